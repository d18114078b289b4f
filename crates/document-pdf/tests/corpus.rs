//! Renders every Word file of the corpus, as the service does with uploaded files. `GROUPWORK_PDF_FOLDER` stores the PDFs
//! in a folder, for `scripts/check-pdf-ua`.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by a panic and prints what it measured"
)]

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use document_pdf::{PictureRef, RenderOptions, render};
use docx::Limits;
use rich_text::Node;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/docx");

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "docx"))
        .collect();
    files.sort();
    files
}

#[expect(clippy::disallowed_methods, reason = "a setting of a test")]
fn target_folder() -> Option<PathBuf> {
    std::env::var_os("GROUPWORK_PDF_FOLDER").map(PathBuf::from)
}

#[test]
fn every_file_of_the_corpus_becomes_an_accessible_pdf() {
    let (mut rendered, mut problems) = (0, Vec::new());
    for path in files(Path::new(CORPUS)) {
        let file = std::fs::read(&path).unwrap();
        let Ok(opened) = docx::open(&file, &Limits::default()) else {
            // Damaged and hostile files are part of the corpus.
            continue;
        };
        let document =
            Node::document_from_json(&opened.document).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let parts: HashMap<&str, &str> = opened
            .images
            .iter()
            .map(|image| (image.id.as_str(), image.part.as_str()))
            .collect();
        let picture = |picture: PictureRef<'_>| match picture {
            PictureRef::Image(id) => docx::read_part(&file, parts.get(id)?, &Limits::default())
                .ok()
                .flatten(),
            PictureRef::Island(_) => None,
        };
        let options = RenderOptions {
            title: "A document",
            language: "en",
            picture: &picture,
        };
        let pdf = render(&document, &options).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        if let Some(folder) = target_folder() {
            let name = path.with_extension("pdf");
            std::fs::write(folder.join(name.file_name().unwrap()), &pdf.bytes).unwrap();
        }
        if !pdf.is_accessible() {
            problems.push(format!("{}: {:?}", path.display(), pdf.problems));
        }
        rendered += 1;
    }
    println!("{rendered} files rendered");
    assert!(rendered > 200, "{rendered}");
    assert!(problems.is_empty(), "{problems:#?}");
}
