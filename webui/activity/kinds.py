"""What people do, with the sentence that the activity page shows.

If a sentence depends on more than the kind, it is in page.py.
"""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class Kind(TextChoices):
    SIGNED_IN = "signed_in", _("%(person)s signed in")
    PAIRED = "paired", _("%(person)s signed in without a password")
    FAILED = "failed"
    OWNER_MADE = "owner_made", _("%(subject)s became an owner")
    PASSWORD_CHANGED = "password_changed", _("%(person)s changed %(subject)s's password")
    LINK_OFFERED = "link_offered", _("%(person)s created a pairing link")
    CODE_APPROVED = "code_approved", _("%(person)s approved a device: %(subject)s")
    DEVICE_SIGNED_OUT = "device_signed_out", _("%(person)s signed out a device: %(subject)s")
    OTHERS_SIGNED_OUT = "others_signed_out", _("%(person)s signed out all their other devices")
    PERSON_SIGNED_OUT = "person_signed_out", _("%(person)s signed %(subject)s out everywhere")
    INVITED = "invited", _("%(person)s created an invitation (%(role)s)")
    INVITATION_REVOKED = "invitation_revoked", _("%(person)s revoked an invitation")
    JOINED = "joined", _("%(person)s accepted an invitation (%(role)s)")
    ROLE_CHANGED = "role_changed", _("%(person)s changed %(subject)s's role to %(role)s")
    REMOVED = "removed", _("%(person)s removed %(subject)s")
    TOKEN_MADE = "token_made", _("%(person)s created a token: %(subject)s")
    TOKEN_REVOKED = "token_revoked", _("%(person)s revoked a token: %(subject)s")
    SHARE_MADE = "share_made", _("%(person)s created a link: %(subject)s")
    SHARE_CHANGED = "share_changed", _("%(person)s changed a link: %(subject)s")
    SHARE_REVOKED = "share_revoked", _("%(person)s revoked a link: %(subject)s")
    FILE_RECEIVED = "file_received", _("Someone sent a file through %(person)s's link: %(subject)s")
    PROGRAMS_ALLOWED = "programs_allowed", _("%(person)s created a password for other programs")
    PROGRAMS_BLOCKED = "programs_blocked", _("%(person)s revoked the password for other programs")
    CONNECTED = "connected", _("%(person)s connected Ferry to %(subject)s")
    DISCONNECTED = "disconnected", _("%(person)s disconnected Ferry from %(subject)s")
    RENAMED = "renamed", _("%(person)s renamed “%(subject)s” to “%(new)s”")
    SPACE_CHANGED = "space_changed", _("%(person)s changed the space for files to %(subject)s GB")
    DELETED_DAYS_CHANGED = (
        "deleted_days_changed",
        _("%(person)s changed for how many days deleted items can be restored: %(subject)s"),
    )
    SERVER_NAMED = "server_named", _("%(person)s named this server “%(subject)s”")
    ADDRESSES_CHANGED = (
        "addresses_changed",
        _("%(person)s changed the names of this server: %(subject)s"),
    )
    MOVED = "moved", _("%(person)s moved “%(subject)s”")
    COPIED = "copied", _("%(person)s copied “%(subject)s”")
    MOVE_UNDONE = "move_undone", _("%(person)s undid a move or copy")
    UNPACKED = "unpacked", _("%(person)s unpacked “%(subject)s”")
    UNPACKING_UNDONE = "unpacking_undone", _("%(person)s canceled or undid an unpacking")
    DELETED = "deleted", _("%(person)s deleted “%(subject)s”")
    NOT_DELETED = "not_deleted", _("The storage service didn't delete %(subject)s")
    UNDELETED = "undeleted", _("%(person)s restored “%(subject)s”")
    DELETED_FOR_GOOD = "deleted_for_good", _("%(person)s deleted “%(subject)s” for good")
    TRANSFER_REMOVED = "transfer_removed", _("%(person)s removed a transfer: %(subject)s")
    FILES_CHOSEN = "files_chosen"
    LIMITS_CHANGED = "limits_changed", _("%(person)s changed the limits of transfers")
    SPEED_SWITCHED = "speed_switched", _("%(person)s switched between slow and full speed")
    TRANSFER_LIMITED = "transfer_limited", _("%(person)s changed the limits of “%(subject)s”")
    ACCOUNT_CHANGED = (
        "account_changed",
        _("%(person)s changed the service account %(subject)s (%(role)s)"),
    )
    LINK_PRINTED = "link_printed", _("%(person)s created a sign-in link for %(subject)s")
    UNLOCKED = "unlocked", _("%(person)s cleared the limits on wrong passwords")
    BACKED_UP = "backed_up", _("%(person)s backed up Ferry to %(subject)s")
    RESTORED = "restored", _("%(person)s restored Ferry from %(subject)s")
    DATABASE_RESTORED = "database_restored", _("%(person)s restored the database from %(subject)s")
    FILES_ADOPTED = (
        "files_adopted",
        _("%(person)s put files missing from the database into a folder of %(subject)s"),
    )
    FILES_DISCARDED = (
        "files_discarded",
        _("%(person)s moved files missing from the database to the orphans"),
    )
    ORPHANS_RESTORED = "orphans_restored", _("%(person)s put orphans into a folder of %(subject)s")
    ORPHANS_DELETED = "orphans_deleted", _("%(person)s deleted all orphans")
    PROGRAM_FAILED = "program_failed"
    PROGRAM_DELETED = "program_deleted", _("Another program deleted “%(subject)s” as %(account)s")
    PROGRAM_TRANSFER_REMOVED = (
        "program_transfer_removed",
        _("Another program removed a transfer as %(account)s: %(subject)s"),
    )
