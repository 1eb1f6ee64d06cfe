#!/bin/sh
# make.sh [SESSION]: makes the documents in a sandbox that has no network, and fetches them.
set -eu
session=${1:-documents/example}
# guard runs here; programs run there.
there() { guard session exec --timeout 120 "$session" -- "$@"; }

# The packages of npm are needed for bundling only, here.
bun build deck.ts --target bun --outfile deck.js
guard session upload "$session" deck.js deck.js
guard session upload "$session" report.py report.py
there bun deck.js
there python3 report.py
there soffice --headless -env:UserInstallation=file:///tmp/office --convert-to pdf deck.pptx report.docx
there pdftoppm -png -r 50 deck.pdf slide
for made in deck.pptx deck.pdf slide-1.png report.docx report.pdf sales.xlsx; do
  guard session download "$session" "$made" "$made"
done
