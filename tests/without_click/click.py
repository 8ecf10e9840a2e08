raise ModuleNotFoundError(name="click")
