//! What holds for each row of the provider's tables: it is documented, has an example, and stands
//! in its place.

use std::{fs, path::PathBuf};

use provider::{
    actions::ACTIONS,
    data_sources::DATA_SOURCES,
    ephemeral_resources::EPHEMERAL_RESOURCES,
    framework::{
        Attribute, Provider as _, Schema, Type,
        conformance::{
            check_identity_schema, check_schema, check_signature, check_unstored_schema,
        },
    },
    functions::FUNCTIONS,
    list_resources::LIST_RESOURCES,
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

/// Each table: the folder of its examples, the files of each type, and its types.
fn tables() -> Vec<(&'static str, &'static [&'static str], Vec<&'static str>)> {
    vec![
        ("actions", &["action.tf"], ACTIONS.iter().map(|a| a.type_name()).collect()),
        (
            "data-sources",
            &["data-source.tf"],
            DATA_SOURCES.iter().map(|source| source.type_name()).collect(),
        ),
        (
            "ephemeral-resources",
            &["ephemeral-resource.tf"],
            EPHEMERAL_RESOURCES.iter().map(|ephemeral| ephemeral.type_name()).collect(),
        ),
        ("functions", &["function.tf"], FUNCTIONS.iter().map(|f| f.name()).collect()),
        (
            "list-resources",
            &["list-resource.tfquery.hcl"],
            LIST_RESOURCES.iter().map(|list| list.type_name()).collect(),
        ),
        (
            "resources",
            &["resource.tf", "import.sh", "import-by-identity.tf"],
            RESOURCES.iter().map(|resource| resource.type_name()).collect(),
        ),
    ]
}

#[test]
fn every_type_has_an_example() {
    let wanted = tables().into_iter().flat_map(|(folder, files, types)| {
        let paths = move |ty: &str| {
            files.iter().map(|file| format!("{folder}/{ty}/{file}")).collect::<Vec<_>>()
        };
        types.into_iter().flat_map(paths)
    });
    let missing = missing(wanted.chain(["provider/provider.tf".to_owned()]));
    assert!(missing.is_empty(), "write in examples/: {missing:?}");
}

#[test]
fn every_example_is_of_a_type() {
    for (folder, _, known) in tables() {
        let Ok(entries) = fs::read_dir(examples().join(folder)) else { continue };
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let unknown: Vec<String> = names.filter(|name| !known.contains(&name.as_str())).collect();
        assert!(unknown.is_empty(), "examples/{folder}/ has folders of no type: {unknown:?}");
    }
}

#[test]
fn tables_are_sorted_by_type() {
    for (folder, _, types) in tables() {
        assert!(types.is_sorted(), "the table of {folder} is to be sorted: {types:?}");
    }
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

/// The schemas of all tables and of the provider's block, with their types.
fn schemas() -> Vec<(&'static str, Schema)> {
    let mut all = vec![("provider", RuntimeCloud::new(|_| None).schema())];
    all.extend(ACTIONS.iter().map(|action| (action.type_name(), action.schema())));
    all.extend(DATA_SOURCES.iter().map(|source| (source.type_name(), source.schema())));
    all.extend(EPHEMERAL_RESOURCES.iter().map(|e| (e.type_name(), e.schema())));
    all.extend(LIST_RESOURCES.iter().map(|list| (list.type_name(), list.schema())));
    all.extend(RESOURCES.iter().map(|resource| (resource.type_name(), resource.schema())));
    all
}

#[test]
fn every_attribute_is_described_in_sentences() {
    let found: Vec<String> =
        schemas().iter().flat_map(|(name, schema)| undescribed(name, &schema.attributes)).collect();
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn every_schema_is_one_that_terraform_takes() {
    for (name, schema) in schemas() {
        assert_eq!(check_schema(&schema), [], "{name}");
    }
    for source in DATA_SOURCES {
        assert_eq!(check_unstored_schema(&source.schema()), [], "{}", source.type_name());
    }
    for ephemeral in EPHEMERAL_RESOURCES {
        assert_eq!(check_unstored_schema(&ephemeral.schema()), [], "{}", ephemeral.type_name());
    }
}

#[test]
fn every_resource_has_an_identity_and_a_list_that_finds_it() {
    for resource in RESOURCES {
        let ty = resource.type_name();
        let identity = resource.identity().unwrap_or_else(|| panic!("{ty} has no identity"));
        assert_eq!(check_identity_schema(&identity, &resource.schema()), [], "{ty}");
        assert!(LIST_RESOURCES.iter().any(|list| list.type_name() == ty), "no list finds {ty}");
        let links: Vec<i64> = resource.identity_upgrades().iter().map(|link| link.from).collect();
        assert_eq!(links, (0..identity.version).collect::<Vec<i64>>(), "{ty}");
    }
    assert_eq!(LIST_RESOURCES.len(), RESOURCES.len(), "a list finds what is managed");
}

#[test]
fn every_signature_is_one_that_terraform_takes() {
    for function in FUNCTIONS {
        assert_eq!(check_signature(function.name(), &function.signature()), []);
    }
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
            let has_name =
                ["token", "secret", "password"].iter().any(|s| attribute.name.contains(s));
            let secret = has_name && attribute.value_type() != Type::Number;
            let hidden = attribute.sensitive || attribute.write_only;
            assert!(!secret || hidden, "{}", attribute.name);
            check(attribute.children());
        }
    }
    schemas().iter().for_each(|(_, schema)| check(&schema.attributes));
}
