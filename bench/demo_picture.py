"""Take the picture of the demo's report: ``python bench/demo_picture.py`` writes docs/pictures/report.png.

It makes the demo run, opens its report in a Chromium that is installed, and photographs it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

OUT = Path(__file__).parents[1] / "docs" / "pictures" / "report.png"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "microsoft-edge")


def main() -> None:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        run = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(folder) / "run"
        if not run.is_dir():
            subprocess.run([Path(sys.executable).with_name("shoal"), "demo", "--out", run], check=True)
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 1360, "height": 860}, device_scale_factor=1.5)
        page.goto((run / "report.html").resolve().as_uri())
        page.wait_for_timeout(1500)
        page.screenshot(path=OUT)
        chromium.close()
    print(OUT)


if __name__ == "__main__":
    main()
