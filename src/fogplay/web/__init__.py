"""The table in the browser: the only folder that imports NiceGUI."""
