//! What can be called and with what: read off the protocol's description and the provider's tables,
//! so that a new method or type is fuzzed as soon as there is one.

use std::{collections::BTreeMap, sync::LazyLock};

use prost::Message as _;
use prost_types::{DescriptorProto, FileDescriptorSet, MethodDescriptorProto};
use provider::{
    framework::{Provider as _, Type},
    provider::RuntimeCloud,
};

pub static CATALOG: LazyLock<Catalog> = LazyLock::new(Catalog::read);

pub struct Catalog {
    /// The protocol's methods, in its order.
    pub methods: Vec<MethodDescriptorProto>,
    /// Messages by full name, such as `.tfplugin6.DynamicValue`.
    pub messages: BTreeMap<String, DescriptorProto>,
    provider: Vec<Entry>,
    resources: Vec<Entry>,
    data_sources: Vec<Entry>,
    ephemeral_resources: Vec<Entry>,
    list_resources: Vec<Entry>,
    actions: Vec<Entry>,
    functions: Vec<Entry>,
}

/// Something that the provider has.
#[derive(Default)]
pub struct Entry {
    pub name: String,
    /// The types of the values that it is called with: one, or as many as a function has parameters.
    pub types: Vec<Type>,
    pub identity: Option<Type>,
}

impl Catalog {
    fn read() -> Self {
        let provider = RuntimeCloud::new(|_| None);
        let entry =
            |name: &str, ty| Entry { name: name.to_owned(), types: vec![ty], identity: None };
        let mut messages = BTreeMap::new();
        let mut methods = Vec::new();
        let files = FileDescriptorSet::decode(proto::FILE_DESCRIPTOR_SET).expect("it is our own");
        for file in files.file {
            collect(&format!(".{}", file.package()), file.message_type, &mut messages);
            let services = file.service.into_iter().filter(|s| s.name() == "Provider");
            methods.extend(services.flat_map(|service| service.method));
        }
        Self {
            methods,
            messages,
            provider: vec![entry("", provider.schema().value_type())],
            resources: (provider.resources().iter())
                .map(|r| Entry {
                    identity: r.identity().map(|identity| identity.value_type()),
                    ..entry(r.type_name(), r.schema().value_type())
                })
                .collect(),
            data_sources: (provider.data_sources().iter())
                .map(|d| entry(d.type_name(), d.schema().value_type()))
                .collect(),
            ephemeral_resources: (provider.ephemeral_resources().iter())
                .map(|e| entry(e.type_name(), e.schema().value_type()))
                .collect(),
            list_resources: (provider.list_resources().iter())
                .map(|l| entry(l.type_name(), l.schema().value_type()))
                .collect(),
            actions: (provider.actions().iter())
                .map(|a| entry(a.type_name(), a.schema().value_type()))
                .collect(),
            functions: (provider.functions().iter())
                .map(|f| {
                    let signature = f.signature();
                    let parameters = signature.parameters.into_iter().chain(signature.variadic);
                    let types = parameters.map(|parameter| parameter.ty).collect();
                    Entry { name: f.name().to_owned(), types, identity: None }
                })
                .collect(),
        }
    }

    /// What a method is called with.
    pub fn entries(&self, method: &str) -> &[Entry] {
        let tables = [
            ("ProviderConfig", &self.provider),
            ("ConfigureProvider", &self.provider),
            ("Ephemeral", &self.ephemeral_resources),
            ("ListResource", &self.list_resources),
            ("Action", &self.actions),
            ("Function", &self.functions),
            ("Data", &self.data_sources),
        ];
        let found = tables.iter().find(|(part, _)| method.contains(part));
        found.map_or(&self.resources, |(_, table)| table)
    }
}

fn collect(
    scope: &str,
    messages: Vec<DescriptorProto>,
    found: &mut BTreeMap<String, DescriptorProto>,
) {
    for mut message in messages {
        let name = format!("{scope}.{}", message.name());
        collect(&name, std::mem::take(&mut message.nested_type), found);
        found.insert(name, message);
    }
}
