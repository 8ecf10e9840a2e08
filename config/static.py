from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedModules(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Names by content for everything, the imports inside ES modules included."""

    support_js_module_import_aggregation = True
