"""The rules, one module a chapter, one function a rule number."""
