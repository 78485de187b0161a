"""The index that the Swift compiler writes beside a build: which declaration each name in each source file refers to.

It is read by libIndexStore of the toolchain, as an editor does. Names of local variables are not in it.
"""
import collections
import ctypes
import os
import shutil

# Roles of an occurrence and of its relations (indexstore.h).
DEFINITION, REFERENCE, CALL = 1 << 1, 1 << 2, 1 << 5
CHILD_OF, OVERRIDE_OF, CALLED_BY, EXTENDED_BY, ACCESSOR_OF = 1 << 9, 1 << 11, 1 << 13, 1 << 14, 1 << 15
# Kinds of a symbol.
FUNCTIONS = {12, 16, 17, 18, 22}
CONSTANT = 21    # A static property.
RECORD = 2    # Of a dependency of a unit.
# Where the rooms are: what is installed, what tests start and import, and the benchmarks.
ROOMS = ("Sources/", "Tests/Tools/", "Benchmarks/")

Occurrence = collections.namedtuple("Occurrence", "line symbol roles relations")


class Unreadable(Exception):
    """There is no index, or nothing that reads it. The text says what to do."""


class _Text(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    def __str__(self):
        return ctypes.string_at(self.data, self.length).decode() if self.length else ""


POINTER, COUNT = ctypes.c_void_p, ctypes.c_uint
ON_NAME = ctypes.CFUNCTYPE(ctypes.c_bool, POINTER, _Text)
ON_VALUE = ctypes.CFUNCTYPE(ctypes.c_bool, POINTER, POINTER)


def library_path():
    """libIndexStore of the toolchain that `swift` is of."""
    swift = shutil.which("swift")
    if not swift:
        raise Unreadable("there is no swift in PATH")
    path = os.path.join(os.path.dirname(os.path.realpath(swift)), "..", "lib", "libIndexStore.so")
    if not os.path.exists(path):
        raise Unreadable(f"the toolchain of {swift} has no lib/libIndexStore.so; install the whole toolchain, not its compiler alone")
    return path


class _Library:
    """The functions that we call, with their types."""

    def __init__(self):
        library = ctypes.CDLL(library_path())

        def function(name, result, *arguments):
            found = getattr(library, "indexstore_" + name)
            found.restype, found.argtypes = result, list(arguments)
            return found

        each = (ctypes.c_bool, POINTER, POINTER, POINTER)
        self.store = function("store_create", POINTER, ctypes.c_char_p, ctypes.POINTER(POINTER))
        self.units = function("store_units_apply_f", ctypes.c_bool, POINTER, COUNT, POINTER, POINTER)
        self.unit = function("unit_reader_create", POINTER, POINTER, ctypes.c_char_p, ctypes.POINTER(POINTER))
        self.end_unit = function("unit_reader_dispose", None, POINTER)
        self.main_file = function("unit_reader_get_main_file", _Text, POINTER)
        self.written = function("unit_reader_get_modification_time", None, POINTER,
                                ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.c_int64))
        self.dependencies = function("unit_reader_dependencies_apply_f", *each)
        self.dependency_kind = function("unit_dependency_get_kind", ctypes.c_int, POINTER)
        self.dependency_name = function("unit_dependency_get_name", _Text, POINTER)
        self.dependency_path = function("unit_dependency_get_filepath", _Text, POINTER)
        self.record = function("record_reader_create", POINTER, POINTER, ctypes.c_char_p, ctypes.POINTER(POINTER))
        self.end_record = function("record_reader_dispose", None, POINTER)
        self.occurrences = function("record_reader_occurrences_apply_f", *each)
        self.symbol = function("occurrence_get_symbol", POINTER, POINTER)
        self.roles = function("occurrence_get_roles", ctypes.c_uint64, POINTER)
        self.place = function("occurrence_get_line_col", None, POINTER, ctypes.POINTER(COUNT), ctypes.POINTER(COUNT))
        self.relations = function("occurrence_relations_apply_f", *each)
        self.relation_roles = function("symbol_relation_get_roles", ctypes.c_uint64, POINTER)
        self.relation_symbol = function("symbol_relation_get_symbol", POINTER, POINTER)
        self.identity = function("symbol_get_usr", _Text, POINTER)
        self.name = function("symbol_get_name", _Text, POINTER)
        self.kind = function("symbol_get_kind", ctypes.c_int, POINTER)


class Index:
    """All occurrences in the Swift files of rooms and tests.

    files: path -> [Occurrence]; names, kinds, defined (path, line): by the identity of a symbol.
    """

    def __init__(self, root, build):
        self.root = os.path.realpath(root)
        self.files, self.names, self.kinds, self.defined = {}, {}, {}, {}
        self._read(os.path.join(build, "index", "store"), build)
        self._refuse_what_is_old(build)
        for path, occurrences in sorted(self.files.items()):
            for one in occurrences:
                if one.roles & DEFINITION:
                    self.defined.setdefault(one.symbol, (path, one.line))
        self._relate()

    def _relate(self):
        """Whose member a declaration is, what a requirement is met by, and what a function calls."""
        self.extended, self.parent = {}, {}
        self.accessors, self.met, self.calls = set(), collections.defaultdict(set), collections.defaultdict(list)
        for path, one in self.all():
            for roles, other in one.relations:
                if roles & EXTENDED_BY:
                    self.extended[other] = one.symbol
                if roles & CALLED_BY and one.roles & CALL:
                    self.calls[other].append(one.symbol)
                if not one.roles & DEFINITION:
                    continue
                if roles & ACCESSOR_OF:
                    self.accessors.add(one.symbol)
                if roles & (CHILD_OF | ACCESSOR_OF):
                    self.parent.setdefault(one.symbol, other)
                if roles & OVERRIDE_OF:
                    self.met[other].add(one.symbol)

    def all(self, below=ROOMS):
        for path, occurrences in self.files.items():
            if path.startswith(below):
                for one in occurrences:
                    yield path, one

    def references(self, below=ROOMS):
        """(path, path of the declaration, symbol) of each reference to a declaration of another file."""
        for path, one in self.all(below):
            if one.roles & (REFERENCE | CALL) and one.symbol in self.defined:
                there = self.defined[one.symbol][0]
                if there != path:
                    yield path, there, one.symbol

    def owner(self, symbol):
        """The name of the type that a declaration is a member of, also by an extension."""
        parent = self.parent.get(symbol)
        if symbol in self.accessors:
            parent = self.parent.get(parent)
        return self.names.get(self.extended.get(parent, parent), "")

    def _read(self, store_path, build):
        if not os.path.isdir(store_path):
            raise Unreadable(f"{build} has no index; 'swift build --build-tests' writes one")
        self._library = library = _Library()
        error = POINTER()
        store = library.store(store_path.encode(), ctypes.byref(error))
        if not store:
            raise Unreadable(f"libIndexStore cannot read {store_path}; was it written by another toolchain?")
        units = []
        on_unit = ON_NAME(lambda _, name: units.append(str(name)) or True)
        library.units(store, 0, None, ctypes.cast(on_unit, POINTER))
        self._written = {}
        for name in units:
            self._read_unit(store, name, error)

    def _read_unit(self, store, name, error):
        library = self._library
        unit = library.unit(store, name.encode(), ctypes.byref(error))
        if not unit:
            return
        path = os.path.relpath(os.path.realpath(str(library.main_file(unit))), self.root)
        records = []

        def on_dependency(_, dependency):
            if library.dependency_kind(dependency) == RECORD:
                records.append((str(library.dependency_name(dependency)), str(library.dependency_path(dependency))))
            return True

        # A file that was removed leaves its unit behind.
        if path.startswith((*ROOMS, "Tests/")) and path.endswith(".swift") and os.path.exists(os.path.join(self.root, path)):
            seconds, fraction = ctypes.c_int64(), ctypes.c_int64()
            library.written(unit, ctypes.byref(seconds), ctypes.byref(fraction))
            if seconds.value >= self._written.get(path, 0):
                self._written[path] = seconds.value
                each = ON_VALUE(on_dependency)
                library.dependencies(unit, None, ctypes.cast(each, POINTER))
                self.files[path] = [one for record, of in records if os.path.relpath(os.path.realpath(of), self.root) == path
                                    for one in self._occurrences(store, record, error)]
        library.end_unit(unit)

    def _occurrences(self, store, record, error):
        library, found = self._library, []
        reader = library.record(store, record.encode(), ctypes.byref(error))
        if not reader:
            raise Unreadable(f"a part of the index is missing ({record}); remove the build's directory 'index' and build again")

        def note(symbol):
            identity = str(library.identity(symbol))
            if identity not in self.names:
                self.names[identity], self.kinds[identity] = str(library.name(symbol)), library.kind(symbol)
            return identity

        def on_occurrence(_, occurrence):
            line, column, relations = COUNT(), COUNT(), []
            library.place(occurrence, ctypes.byref(line), ctypes.byref(column))

            def on_relation(_, relation):
                relations.append((library.relation_roles(relation), note(library.relation_symbol(relation))))
                return True

            each = ON_VALUE(on_relation)
            library.relations(occurrence, None, ctypes.cast(each, POINTER))
            found.append(Occurrence(line.value, note(library.symbol(occurrence)), library.roles(occurrence), tuple(relations)))
            return True

        each = ON_VALUE(on_occurrence)
        library.occurrences(reader, None, ctypes.cast(each, POINTER))
        library.end_record(reader)
        return found

    def _refuse_what_is_old(self, build):
        """An index of another state of the sources would give wrong numbers that look right."""
        sources = [os.path.relpath(os.path.join(folder, name), self.root)
                   for place in ROOMS for folder, _, names in os.walk(os.path.join(self.root, place)) for name in names if name.endswith(".swift")]
        missing = sorted(path for path in sources if path not in self.files)
        if missing:
            raise Unreadable(f"the index of {build} lacks {len(missing)} of {len(sources)} files, such as {missing[0]}; "
                             "build with 'swift build --build-tests' in this directory")
        old = sorted(path for path in sources if os.stat(os.path.join(self.root, path)).st_mtime >= self._written[path] + 1)
        if old:
            raise Unreadable(f"{len(old)} files changed after the index of {build} was written, such as {old[0]}; build again")
