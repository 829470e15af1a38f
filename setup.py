"""What pyproject.toml has no words for: the wheel carries the settings of Streamlit as well."""

from setuptools import find_packages, setup

CONFIG = "attention.launch.config"  # a folder of the wheel; in the repository it is .streamlit

setup(
    packages=[*find_packages(include=["attention", "attention.*"]), CONFIG],
    package_dir={CONFIG: ".streamlit"},
    package_data={
        CONFIG: ["config.toml"],
        "attention": ["py.typed", "**/*.js", "**/*.ts", "**/*.css", "models/captures/*"],
    },
)
