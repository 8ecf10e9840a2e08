"""Join the halves and the host, which otherwise don't know each other."""

from common.host import EmbeddedService, Host, run_on
from config.embedded import upstream
from host import health
from webui import owner_settings


def wire() -> None:
    run_on(
        Host(
            embedded=EmbeddedService(
                account=upstream.EMBEDDED_ACCOUNT,
                transport=upstream.transport,
                credentials=upstream.credentials,
                set_password=upstream.set_password,
                set_space=upstream.set_space,
                end_links=upstream.end_links,
            ),
            report_health=health.report,
            find_library_trouble=health.library,
            find_setting=owner_settings.find,
        )
    )
