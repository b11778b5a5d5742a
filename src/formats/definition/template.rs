//! Path templates of files beside a session.

use std::path::{Path, PathBuf};

use crate::formats::roots::file_name;

/// Fills a template for the session at `path`: `{dir}` is its folder, `{above}` the parent of that,
/// `{name}` the file name, `{stem}` the file name without its extension, `{tail}` the part of the
/// stem after the last hyphen. A template that begins with `{beside NAME}` is relative to the
/// parent of the folder NAME that contains the session; `None` for sessions outside such a folder.
pub(crate) fn filled(template: &str, path: &Path) -> Option<PathBuf> {
    if template.starts_with(HOLDER) {
        return holder(template, path).map(|(folder, rest)| folder.join(rest));
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let above = folder.parent().unwrap_or(Path::new("")).to_string_lossy();
    let folder = folder.to_string_lossy();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let tail = stem.rsplit('-').next().unwrap_or_default().to_owned();
    let text = template
        .replace("{dir}", &folder)
        .replace("{above}", &above)
        .replace("{stem}", &stem)
        .replace("{tail}", &tail);
    let text = text.replace("{name}", file_name(path));
    Some(PathBuf::from(text))
}

const HOLDER: &str = "{beside ";

/// The parent of the folder that a template begins with, and the rest of the template.
pub(super) fn holder<'p, 't>(template: &'t str, path: &'p Path) -> Option<(&'p Path, &'t str)> {
    let (name, rest) = template.strip_prefix(HOLDER)?.split_once("}/")?;
    let named = path
        .ancestors()
        .skip(1)
        .find(|one| file_name(one) == name)?;
    let folder = named.parent().filter(|one| one.parent().is_some())?;
    Some((folder, rest))
}
