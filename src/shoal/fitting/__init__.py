"""One fit, from the request to the finished run folder; no command line needed."""

from shoal.fitting.finished_run import known_classes, result_of, write_run
from shoal.fitting.fit import resume_fit, start_fit
from shoal.fitting.job import FitJob, plan_job

__all__ = ["FitJob", "known_classes", "plan_job", "result_of", "resume_fit", "start_fit", "write_run"]
