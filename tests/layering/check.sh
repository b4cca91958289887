#!/usr/bin/env bash
# Rules on the sources that the compiler does not check:
#   1. includes between folders go one way: core <- math <- ... <- view <- cli; a public header counts
#      with the folder that implements its functions;
#   2. the library does not print, exit, abort or jump (snprintf and fprintf to a file are fine);
#   3. every src/<folder> is named in docs/ARCHITECTURE.md;
#   4. include/scree/scree.h includes every public header;
#   5. a file of more than 600 lines gives the reason at its head: "More than 600 lines: ...";
#   6. no two headers or sources define types of the same name;
#   7. a function that takes or returns a vector by value is SCREE_INLINE (src/math/simd.h).
#
#   check.sh ROOT         print each violation as file:line: reason; fail if there is one
#   check.sh --self-test  break each rule in a sample tree and demand that it is reported
set -euo pipefail
order="core math parallel problem solver element geometry body law joint step world fclib scene run view cli"

# The file without comments, strings and character constants, line numbers kept. Include lines are
# kept whole for rule 1. Each file is stripped once in a check.
strip_c() {
  local kept="$stripped/${1//\//+}"
  [ -f "$kept" ] || strip_file "$1" >"$kept"
  cat "$kept"
}

strip_file() {
  awk '
    {
      if (!in_comment && $0 ~ /^[ \t]*#[ \t]*include/) { print; next }
      out = ""; n = length($0)
      for (i = 1; i <= n; i++) {
        c = substr($0, i, 1); two = substr($0, i, 2)
        if (in_comment) { if (two == "*/") { in_comment = 0; i++ } }
        else if (two == "/*") { in_comment = 1; i++; out = out " " }
        else if (two == "//") break
        else if (c == "\"" || c == "\047") {
          for (i++; i <= n && substr($0, i, 1) != c; i++) if (substr($0, i, 1) == "\\") i++
          out = out c c
        } else out = out c
      }
      print out
    }' "$1"
}

# Public headers have the rank of the last folder that defines one of their functions, or of what they
# include: lines "<file> <rank>", computed by passing over the headers until nothing rises. A function
# that no folder defines is reported.
public_ranks() {
  local header file
  {
    for file in src/*/*.c; do
      [ -f "$file" ] && strip_c "$file" | awk -v file="$file" '
        # a definition starts in the first column, has no static, and ends with no semicolon
        /^[A-Za-z_]/ && !/^static/ && match($0, /scree_[a-z0-9_]+\(/) {
          split(file, part, "/"); print "defined", substr($0, RSTART, RLENGTH - 1), part[2] }'
    done
    for header in include/scree/*.h; do
      [ -f "$header" ] || continue
      strip_c "$header" | awk -v name="$(basename "$header" .h)" '
        /^[ \t]*#[ \t]*include[ \t]*"scree\// { split($0, part, "\""); print "include", name, part[2] }
        { text = text " " $0 }
        END {
          while (match(text, /SCREE_API [^;(]*\(/)) {
            declared = substr(text, RSTART, RLENGTH - 1); text = substr(text, RSTART + RLENGTH)
            sub(/.*[ *]/, "", declared); if (declared ~ /^scree_/) print "declared", name, declared
          }
          print "header", name
        }'
    done
  } | awk -v order="$order" '
    BEGIN { n = split(order, folder, " "); for (i = 1; i <= n; i++) folder_rank[folder[i]] = i }
    $1 == "defined" { home[$2] = folder_rank[$3] }
    $1 == "header" { if (!($2 in rank)) rank[$2] = 1 }
    $1 == "declared" { of[++n_declared] = $2; what[n_declared] = $3; if (!($2 in rank)) rank[$2] = 1 }
    $1 == "include" { sub(/^scree\//, "", $3); sub(/\.h$/, "", $3); from[++edges] = $2; to[edges] = $3 }
    END {
      for (d = 1; d <= n_declared; d++) {
        if (!(what[d] in home)) print "scree/" of[d] ".h", "undefined:" what[d]
        else if (rank[of[d]] < home[what[d]]) rank[of[d]] = home[what[d]]
      }
      do {
        risen = 0
        for (e = 1; e <= edges; e++)
          if (rank[from[e]] < rank[to[e]]) { rank[from[e]] = rank[to[e]]; risen = 1 }
      } while (risen)
      for (name in rank) print "scree/" name ".h", rank[name]
    }'
}

check_defined() { # check_defined <ranks>
  awk '$2 ~ /^undefined:/ { sub(/^undefined:/, "", $2); print "include/" $1 ":1: no folder defines " $2 }' \
    <<<"$1"
}

check_includes() {
  local file folder
  for file in include/scree/*.h src/*/*.[ch] cli/*.[ch] cli/*/*.[ch]; do
    [ -f "$file" ] || continue
    case "$file" in
    src/*) folder="${file#src/}" folder="${folder%%/*}" ;;
    cli/*) folder=cli ;;
    *) folder=public ;;
    esac
    strip_c "$file" | awk -v file="$file" -v folder="$folder" -v order="$order" -v ranks="$1" '
      BEGIN {
        n = split(order, name, " "); for (i = 1; i <= n; i++) rank[name[i]] = i
        n = split(ranks, word, " "); for (i = 1; i < n; i += 2) public[word[i]] = word[i + 1]
        if (folder != "public" && !(folder in rank))
          print file ":1: folder " folder " has no place in the order: " order
      }
      /^[ \t]*#[ \t]*include[ \t]*"/ {
        split($0, part, "\""); path = part[2]; to = path; sub(/\/.*/, "", to)
        if (to == "scree") {
          if (!(path in public)) print file ":" NR ": no public header " path
          else if (folder in rank && public[path] > rank[folder])
            print file ":" NR ": " folder " may not include " path ", a header of " name_of(public[path])
        } else if (folder == "public")
          print file ":" NR ": a public header may not include " path ", which is not installed"
        else if (!(to in rank) || path !~ /\//)
          print file ":" NR ": include " path " as \"folder/file.h\""
        else if (folder in rank && rank[to] > rank[folder])
          print file ":" NR ": " folder " may not include " path ", which comes after it"
      }
      function name_of(r,   k) { for (k in rank) if (rank[k] == r) return k; return "?" }'
  done
}

check_calls() {
  local file
  for file in src/*/*.[ch]; do
    [ -f "$file" ] || continue
    strip_c "$file" | awk -v file="$file" '
      /(^|[^A-Za-z0-9_])(printf|vprintf|puts|putchar|perror|exit|_exit|_Exit|quick_exit|abort|longjmp)[ \t]*\(/ ||
      /(^|[^A-Za-z0-9_])(stdout|stderr)([^A-Za-z0-9_]|$)/ {
        print file ":" NR ": the library may not print, exit, abort or jump:" $0
      }'
  done
}

check_architecture() {
  local folder
  for folder in src/*/; do
    folder="${folder%/}"
    grep -q "$folder" docs/ARCHITECTURE.md 2>/dev/null ||
      echo "docs/ARCHITECTURE.md:1: $folder is not named"
  done
}

check_umbrella() {
  local header
  for header in include/scree/*.h; do
    header="scree/$(basename "$header")"
    [ "$header" = scree/scree.h ] || grep -q "^#include \"$header\"" include/scree/scree.h ||
      echo "include/scree/scree.h:1: $header is not included"
  done
}

check_length() {
  local file lines
  for file in include/scree/*.h src/*/*.[ch] cli/*.[ch] cli/*/*.[ch] bench/*.[ch] bench/*/*.[ch] tests/*.[ch] \
    tests/*/*.[ch] fuzz/*.[ch] python/*/*.py python/src/*.[ch] viewer/src/*.js scripts/*.py scripts/*.sh; do
    [ -f "$file" ] || continue
    lines="$(wc -l <"$file")"
    [ "$lines" -le 600 ] || head -n 60 "$file" | grep -q 'More than 600 lines: ' ||
      echo "$file:1: $lines lines, expected at most 600, or \"More than 600 lines:\" and the reason"
  done
}

# Rules 6 and 7, over the files that the rules before have stripped.
check_declarations() {
  awk '
    function place(line) { return file ":" line }
    FNR == 1 {
      file = FILENAME; sub(/.*\//, "", file); gsub(/\+/, "/", file); head = 0
      skip = file !~ /^(include\/scree|src)\//
      delete own; own["scree_Lane"] = own["scree_LaneMask"] = own["scree_Pair"] = 1
    }
    skip { next }
    match($0, /^(typedef[ \t]+)?(struct|enum|union)[ \t]+scree_[A-Za-z0-9_]+[ \t]*\{/) {
      name = substr($0, RSTART, RLENGTH - 1); sub(/[ \t]+$/, "", name); sub(/.*[ \t]/, "", name)
      if (name in at) print place(FNR) ": " name " is also the name of a type of " at[name]
      at[name] = place(FNR)
    }
    /vector_size/ && match($0, /^typedef [A-Za-z_0-9 ]+ [A-Za-z_0-9]+/) {
      name = substr($0, RSTART, RLENGTH); sub(/ +__attribute__$/, "", name); sub(/.* /, "", name)
      own[name] = 1
    }
    /^[A-Za-z_]/ { head = /^(static|SCREE_CLONES|scree_|double|int|bool|void|float)/; start = FNR; text = "" }
    head { text = text " " $0 }
    head && /[;{]/ {
      head = 0
      if (text !~ /\(/ || text ~ /typedef/) next
      sub(/[{].*/, "", text)
      for (name in own)
        if (index(text, name " ") && text ~ "(^|[ (,])" name " [a-z_0-9]+[ ]*[,()]")
          print place(start) ": a vector by value in a function that is not SCREE_INLINE"
    }' "$stripped"/*
}

check_tree() {
  cd "$1"
  local found ranks
  stripped="$(mktemp -d)"
  ranks="$(public_ranks)"
  found="$(
    check_defined "$ranks"
    check_includes "$(grep -v ' undefined:' <<<"$ranks" | tr '\n' ' ')"
    check_calls
    check_architecture
    check_umbrella
    check_length
    check_declarations
  )"
  rm -rf "$stripped"
  [ -z "$found" ] && return 0
  echo "$found"
  return 1
}

self_test() {
  local failures=0
  root="$(mktemp -d)"
  trap 'rm -rf "$root"' EXIT
  mkdir -p "$root"/{include/scree,src/core,src/solver,cli,docs}
  good() {
    echo 'src/core and src/solver' >"$root/docs/ARCHITECTURE.md"
    printf '#include "scree/base.h"\n#include "scree/solver.h"\n#include "scree/info.h"\n' \
      >"$root/include/scree/scree.h"
    echo '#include <stddef.h>' >"$root/include/scree/base.h"
    printf '#include "scree/base.h"\nSCREE_API int\nscree_solve(int x);\n' >"$root/include/scree/solver.h"
    echo '#include "scree/solver.h"' >"$root/include/scree/info.h"
    printf '#include "scree/base.h"\n/* printf( and\n exit( */ // abort(\nconst char *s = "puts(\\" exit(1)";\n' \
      >"$root/src/core/a.c"
    printf '#include "core/a.h"\n#include "scree/info.h"\nint scree_solve(int x) {\n return snprintf(0, 0, "x"); }\n' \
      >"$root/src/solver/b.c"
    printf '#include "solver/b.h"\nint main(void) { printf("x"); }\n' >"$root/cli/main.c"
    rm -rf "$root/src/extra"
  }
  expect() { # expect <text of the report, empty for none> <name>
    local report
    report="$(check_tree "$root" 2>&1)" && [ -z "$1" ] && return 0
    if [ -z "$1" ] || [[ "$report" != *"$1"* ]]; then
      echo "self-test: $2: expected \"$1\", found \"$report\""
      failures=$((failures + 1))
    fi
  }
  good && expect "" "a good tree"
  good && echo '#include "solver/b.h"' >>"$root/src/core/a.c"
  expect "src/core/a.c:5: core may not include solver/b.h" "upward include"
  good && echo '# include "cli/main.h"' >>"$root/src/solver/b.c"
  expect "src/solver/b.c:5: solver may not include cli/main.h" "include of the program"
  good && echo '#include "scree/info.h"' >>"$root/src/core/a.c"
  expect "core may not include scree/info.h, a header of solver" "upward through a public header"
  good && echo '#include "scree/solver.h"' >>"$root/src/core/a.c"
  expect "core may not include scree/solver.h, a header of solver" "header of the folder that implements it"
  good && echo 'SCREE_API int scree_nowhere(int x);' >>"$root/include/scree/solver.h"
  expect "include/scree/solver.h:1: no folder defines scree_nowhere" "function without a definition"
  good && echo '#include "b.h"' >>"$root/src/solver/b.c"
  expect 'include b.h as "folder/file.h"' "include without a folder"
  good && echo '#include "core/a.h"' >>"$root/include/scree/base.h"
  expect "a public header may not include core/a.h" "internal header in a public one"
  good && mkdir "$root/src/extra" && echo >"$root/src/extra/c.c"
  expect "folder extra has no place" "unknown folder"
  expect "src/extra is not named" "folder that the architecture does not name"
  for call in 'printf("x")' 'puts("x")' 'exit (1)' 'abort()' 'fprintf(stderr, "x")' 'longjmp(b, 1)'; do
    good && echo "void g(void) { $call; }" >>"$root/src/core/a.c"
    expect "src/core/a.c:5: the library may not print, exit" "call of $call"
  done
  good && echo >"$root/include/scree/new.h"
  expect "scree/new.h is not included" "header missing from scree.h"
  rm "$root/include/scree/new.h"
  good && printf '/* %d */\n' {1..601} >>"$root/src/core/a.c"
  expect "src/core/a.c:1: 605 lines, expected at most 600" "long file without a reason"
  { echo '/* More than 600 lines: a reason. */' && cat "$root/src/core/a.c"; } >"$root/long" && good
  mv "$root/long" "$root/src/core/a.c" && expect "" "long file with a reason"
  good && echo 'typedef struct scree_Thing {' | tee "$root/src/core/t.h" >"$root/src/solver/t.h"
  expect "scree_Thing is also the name of a type of src/core/t.h:1" "two types of one name"
  rm "$root/src/core/t.h" "$root/src/solver/t.h"
  good && printf 'static double across(\n    scree_Lane x) {\n}\n' >>"$root/src/core/a.c"
  expect "src/core/a.c:5: a vector by value" "vector by value in a function that is compiled once"
  good && printf 'SCREE_INLINE double across(scree_Lane x) {\n}\nstatic double at(scree_Lane *x) {\n}\n' \
    >>"$root/src/core/a.c"
  expect "" "vectors in inlined functions and by pointer"
  [ "$failures" -eq 0 ] && echo "self-test: every rule is able to fail"
}

if [ "${1:-}" = "--self-test" ]; then
  self_test
else
  check_tree "${1:?usage: check.sh ROOT | --self-test}" && echo "layering: no violation"
fi
