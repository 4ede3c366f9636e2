"""One rule per file, named as the file is; `dexnb.lint.rules()` finds them."""
