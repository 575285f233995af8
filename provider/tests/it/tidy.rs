//! What holds for each row of the provider's tables: it is documented, has an example, and stands
//! in its place.

use std::{fs, path::PathBuf};

use provider::{
    data_sources::DATA_SOURCES,
    framework::{Attribute, Provider as _, conformance::check_schema},
    provider::RuntimeCloud,
    resources::RESOURCES,
};

fn examples() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../examples")
}

fn missing(paths: impl IntoIterator<Item = String>) -> Vec<String> {
    paths.into_iter().filter(|path| !examples().join(path).is_file()).collect()
}

fn undescribed(path: &str, attributes: &[Attribute]) -> Vec<String> {
    let mut found = Vec::new();
    for attribute in attributes {
        let path = format!("{path}.{}", attribute.name);
        if !attribute.description.ends_with('.') {
            found.push(path.clone());
        }
        found.extend(undescribed(&path, attribute.children()));
    }
    found
}

#[test]
fn every_type_has_an_example() {
    let resources = RESOURCES.iter().map(|resource| resource.type_name());
    let files = |ty: &str| ["resource.tf", "import.sh"].map(|f| format!("resources/{ty}/{f}"));
    let data_sources = DATA_SOURCES.iter().map(|source| source.type_name());
    let wanted = resources
        .flat_map(files)
        .chain(data_sources.map(|ty| format!("data-sources/{ty}/data-source.tf")))
        .chain(["provider/provider.tf".to_owned()]);
    let missing = missing(wanted);
    assert!(missing.is_empty(), "write in examples/: {missing:?}");
}

#[test]
fn every_example_is_of_a_type() {
    let types = |folder: &str| -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(examples().join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let resources: Vec<&str> = RESOURCES.iter().map(|resource| resource.type_name()).collect();
    let data_sources: Vec<&str> = DATA_SOURCES.iter().map(|source| source.type_name()).collect();
    for (folder, known) in [("resources", resources), ("data-sources", data_sources)] {
        let unknown: Vec<String> =
            types(folder).into_iter().filter(|ty| !known.contains(&ty.as_str())).collect();
        assert!(unknown.is_empty(), "examples/{folder}/ has folders of no type: {unknown:?}");
    }
}

#[test]
fn tables_are_sorted_by_type() {
    let resources: Vec<&str> = RESOURCES.iter().map(|resource| resource.type_name()).collect();
    let data_sources: Vec<&str> = DATA_SOURCES.iter().map(|source| source.type_name()).collect();
    assert!(resources.is_sorted(), "RESOURCES is to be sorted by type: {resources:?}");
    assert!(data_sources.is_sorted(), "DATA_SOURCES is to be sorted by type: {data_sources:?}");
}

#[test]
fn every_import_of_an_example_names_what_the_example_declares() {
    for resource in RESOURCES {
        let ty = resource.type_name();
        let folder = examples().join("resources").join(ty);
        let import = fs::read_to_string(folder.join("import.sh")).unwrap();
        let example = fs::read_to_string(folder.join("resource.tf")).unwrap();
        let address = import.split_whitespace().find(|word| word.starts_with(ty)).unwrap();
        let label = address.rsplit('.').next().unwrap();
        assert!(example.contains(&format!("resource \"{ty}\" \"{label}\"")), "{address}");
    }
}

#[test]
fn every_attribute_is_described_in_sentences() {
    let provider = RuntimeCloud::new(|_| None);
    let mut found = undescribed("provider", &provider.schema().attributes);
    for resource in RESOURCES {
        found.extend(undescribed(resource.type_name(), &resource.schema().attributes));
    }
    for source in DATA_SOURCES {
        found.extend(undescribed(source.type_name(), &source.schema().attributes));
    }
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn every_schema_is_one_that_terraform_takes() {
    for source in DATA_SOURCES {
        assert_eq!(check_schema(&source.schema()), [], "{}", source.type_name());
    }
    assert_eq!(check_schema(&RuntimeCloud::new(|_| None).schema()), []);
}

#[test]
fn every_older_version_of_a_schema_has_its_link() {
    for resource in RESOURCES {
        let links: Vec<i64> = resource.upgrades().iter().map(|link| link.from).collect();
        let older: Vec<i64> = (0..resource.schema().version).collect();
        assert_eq!(links, older, "{}", resource.type_name());
    }
}

#[test]
fn what_is_secret_by_its_name_is_hidden() {
    fn check(attributes: &[Attribute]) {
        for attribute in attributes {
            let secret = ["token", "secret", "password"].iter().any(|s| attribute.name.contains(s));
            let hidden = attribute.sensitive || attribute.write_only;
            assert!(!secret || hidden, "{}", attribute.name);
            check(attribute.children());
        }
    }
    check(&RuntimeCloud::new(|_| None).schema().attributes);
    RESOURCES.iter().for_each(|resource| check(&resource.schema().attributes));
    DATA_SOURCES.iter().for_each(|source| check(&source.schema().attributes));
}
