"""The rows of the specification's tables and of wire.md section 4, in their own words."""

OPERATIONS = {
    "folders": [
        "List root folder",
        "List folder by id",
        "Download folder",
        "Create folder",
        "Rename folder",
        "Delete folder",
    ],
    "files": [
        "Download file",
        "Get HLS video URL",
        "Get MP4 video URL (torrent-naming form)",
        "Get preview image",
        "Get thumbnail",
        "Rename file",
        "Delete file",
    ],
    "transfers": [
        "Get transfer data",
        "Add by magnet",
        "Add by URL",
        "Add by file",
        "Delete transfer",
    ],
    "torrents": [
        "Get torrent data",
        "Add by magnet",
        "Add by URL",
        "Add by file",
        "Delete torrent",
    ],
    "user": ["Get account information"],
    "combined archive": ["Build one download from unrelated files and folders"],
}

CONFLICTING_FORMS = [
    "Delete folder",
    "Delete file",
    "Delete transfer",
    "Thumbnail path",
    "Rename file path",
    "Rename folder field",
    "Create folder",
    "Add torrent by file",
    "Resource naming",
]

WHAT_CLIENTS_SEND = [
    "add calls as urlencoded, multipart or JSON bodies",
    "rename_to in the form or the query string",
    ".torrent uploads as file or torrent_file, on three paths",
    "an invalid part Content-Type and unknown extra parts",
    "url or torrent_url in either naming",
    "the value may be a magnet link",
    "GET and DELETE with Content-Length: 0 and a form content type",
    "no User-Agent",
    "Accept: application/json, text/plain, */* even on downloads",
    "// in the path",
    "POST …/delete and POST /rest/transfer/{id} with an empty body",
    "GET /rest/transfer (no id)",
    "archive_arr as one JSON string, in the query or a form",
    "archive_arr in bracket form",
    "archive_arr of type folder_file, ids as digits",
    "resume: Range sent to /rest/file/{id} and carried over the redirect",
    "GET /rest/user with or without a user id parameter",
]

WHAT_OUR_SERVICE_ADDS = [
    "transfers: state, reason, file_created",
    "add calls: folder_id",
    "POST /rest/zip",
    "listings: ETag and 304",
]

ERRORS = [
    "401 without Basic",
    "401 with wrong Basic",
    "404 unknown id",
    "405 wrong method",
    "409 name taken",
    "400 no_torrent_passed",
    "422 parsing_error",
    "4xx not_a_torrent",
]
