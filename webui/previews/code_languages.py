"""Programming languages: the highlighter's names, and the names that people use."""

LANGUAGES = {
    "python": ("Python", "py pyi"),
    "javascript": ("JavaScript", "js mjs cjs jsx"),
    "typescript": ("TypeScript", "ts tsx"),
    "css": ("CSS", "css"),
    "scss": ("SCSS", "scss less"),
    "html": ("HTML", "html htm xhtml xht"),
    "xml": ("XML", "xml xsl svg opf"),
    "json": ("JSON", "json json5 jsonl ipynb webmanifest map"),
    "yaml": ("YAML", "yaml yml"),
    "toml": ("TOML", "toml"),
    "ini": ("INI", "ini cfg conf properties"),
    "bash": ("Shell", "sh bash zsh"),
    "fish": ("Fish", "fish"),
    "bat": ("Batch", "bat cmd"),
    "powershell": ("PowerShell", "ps1"),
    "c": ("C", "c h"),
    "cpp": ("C++", "cc cpp cxx hpp"),
    "csharp": ("C#", "cs"),
    "java": ("Java", "java"),
    "kotlin": ("Kotlin", "kt gradle"),
    "scala": ("Scala", "scala"),
    "go": ("Go", "go"),
    "rust": ("Rust", "rs"),
    "ruby": ("Ruby", "rb gemfile"),
    "php": ("PHP", "php"),
    "perl": ("Perl", "pl"),
    "lua": ("Lua", "lua"),
    "r": ("R", "r"),
    "swift": ("Swift", "swift"),
    "dart": ("Dart", "dart"),
    "sql": ("SQL", "sql"),
    "diff": ("Diff", "diff patch"),
    "vim": ("Vim", "vim"),
    "haskell": ("Haskell", "hs"),
    "nix": ("Nix", "nix"),
    "cmake": ("CMake", "cmake"),
    "make": ("Makefile", "makefile"),
    "docker": ("Dockerfile", "dockerfile"),
    "protobuf": ("Protocol Buffers", "proto"),
}
LANGUAGE_OF = {name: language for language, (_label, names) in LANGUAGES.items()
               for name in names.split()}  # fmt: skip


def language_of(name: str) -> str:
    """Return the highlighter's name of the language, or an empty string."""
    name = name.lower()
    return LANGUAGE_OF.get(name.rpartition(".")[2], "")


def label_of(name: str) -> str:
    language = language_of(name)
    return LANGUAGES[language][0] if language else ""
