from tests.webui.programs.conftest import (  # noqa: F401  These are fixtures.
    _own_cache,
    service,
    sonarr,
    token,
)
from tests.webui.programs.conftest import handover as top  # noqa: F401  As above.
