//! Templates of paths beside a session.

use std::path::{Path, PathBuf};

use crate::formats::roots::file_name;

/// Fills the template of a path beside a session: `{dir}` is its folder, `{above}` the parent of that, `{name}` the file name,
/// `{stem}` that without its extension, `{tail}` the part of the stem behind the last hyphen. A path that begins with
/// `{beside NAME}` lies where the folder of this name lies that holds the session; sessions elsewhere have none.
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

/// The folder that holds the one named at the beginning of a template, and what stands behind that.
pub(super) fn holder<'p, 't>(template: &'t str, path: &'p Path) -> Option<(&'p Path, &'t str)> {
    let (name, rest) = template.strip_prefix(HOLDER)?.split_once("}/")?;
    let named = path
        .ancestors()
        .skip(1)
        .find(|one| file_name(one) == name)?;
    let folder = named.parent().filter(|one| one.parent().is_some())?;
    Some((folder, rest))
}
