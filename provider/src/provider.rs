//! The provider block, and the tables of what the provider offers.
//!
//! Each argument may come from an environment variable instead; the block wins. An argument that is
//! not known yet is no error: what needs the host says so when it is asked for.

use std::{collections::BTreeMap, path::Path as FilePath, time::Duration};

use proto::duration;

use crate::{
    actions::ACTIONS,
    client::{Client, Secret, Settings, settings::check_endpoint},
    data_sources::DATA_SOURCES,
    ephemeral_resources::EPHEMERAL_RESOURCES,
    framework::{
        Action, Attribute, BoxFuture, Configure, DataSource, Diagnostics, Ephemeral, Function,
        List, Path, Provider, Reported, Resource, Schema, Validator, Value,
    },
    functions::FUNCTIONS,
    list_resources::LIST_RESOURCES,
    resources::{RESOURCES, attributes},
};

/// The provider.
#[derive(Debug, Clone, Copy)]
pub struct RuntimeCloud {
    /// Gives environment variables.
    variable: fn(&str) -> Option<String>,
    /// Whether all that is planned is only to be destroyed.
    destroys: fn() -> bool,
}

const DEFAULT_ENDPOINT: &str = "http://127.0.0.1:7443";
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

impl RuntimeCloud {
    /// With the environment variables that `variable` gives.
    pub fn new(variable: fn(&str) -> Option<String>) -> Self {
        Self { variable, destroys: || false }
    }

    /// Where `destroys` holds, a plan is never refused for want of room: it will not be applied.
    #[must_use]
    pub fn destroying_when(self, destroys: fn() -> bool) -> Self {
        Self { destroys, ..self }
    }

    /// An argument of the block, or else its environment variable; an empty one is none.
    fn text(&self, config: &Value, argument: &str) -> Value {
        let variable = || (self.variable)(&variable_of(argument)).filter(|text| !text.is_empty());
        match config.get(argument) {
            Value::Null => variable().into(),
            given => given.clone(),
        }
    }

    fn default_labels(
        &self,
        config: &Value,
        diagnostics: &mut Diagnostics,
    ) -> Result<Option<BTreeMap<String, String>>, Reported> {
        let given = config.get("default_labels");
        if !given.is_wholly_known() {
            return Ok(None);
        }
        let variable = variable_of("default_labels");
        let text = (self.variable)(&variable).unwrap_or_default();
        if !given.is_null() || text.is_empty() {
            return Ok(Some(given.string_map()));
        }
        let labels = parse_labels(&text)
            .ok_or_else(|| "must be of the form `team=a,stage=dev`".to_owned())
            .and_then(|labels| {
                let value = Value::from(labels.clone());
                let rules = attributes::label_map("default_labels", "").validators;
                rules.iter().try_for_each(|rule| rule.check(&value)).map(|()| Some(labels))
            });
        labels.map_err(|what| {
            diagnostics.error("default_labels", "Not labels", format!("{variable} {what}."))
        })
    }
}

impl Provider for RuntimeCloud {
    type Client = Client;

    fn address(&self) -> &'static str {
        "registry.terraform.io/runtimecloud/runtimecloud"
    }

    fn schema(&self) -> Schema {
        Schema::new(
            "Declares capacity, quotas, environments and worker pools of a Runtime Cloud host.",
        )
        .attributes([
            Attribute::string(
                "endpoint",
                "Where the host listens, `http://HOST:PORT` or `https://HOST:PORT`; else \
                 RUNTIMECLOUD_ENDPOINT, else `http://127.0.0.1:7443`.",
            )
            .check(Validator::Custom(|value| {
                check_endpoint(value.as_str().unwrap_or_default())
                    .map_err(|error| format!("is not usable: {error}"))
            })),
            Attribute::string(
                "token",
                "A token of the host; else RUNTIMECLOUD_TOKEN. The host keeps its administrator's \
                 token in the file `admin.token` of its data folder.",
            )
            .sensitive(),
            Attribute::string(
                "ca_file",
                "Path of the certificates (PEM) of the authorities to trust with `https`; else \
                 RUNTIMECLOUD_CA_FILE, else those of the system.",
            ),
            Attribute::string(
                "request_timeout",
                "How long one call of the host may take, such as `10s` or `1m`; else \
                 RUNTIMECLOUD_REQUEST_TIMEOUT, else `30s`.",
            )
            .check(Validator::Custom(|value| parse_timeout(value).map(|_| ()))),
            attributes::label_map(
                "default_labels",
                "Labels for every resource, whose own labels win; else \
                 RUNTIMECLOUD_DEFAULT_LABELS, in the form `team=a,stage=dev`.",
            ),
        ])
    }

    fn configure<'a>(
        &'a self,
        request: Configure<'a>,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Option<Client>, Reported>> {
        Box::pin(async move {
            let [endpoint, token, ca_file, timeout] =
                ["endpoint", "token", "ca_file", "request_timeout"]
                    .map(|argument| self.text(request.config, argument));
            let default_labels = self.default_labels(request.config, diagnostics);
            if [&endpoint, &token, &ca_file, &timeout].into_iter().any(Value::is_unknown) {
                return Ok(None);
            }
            let token = token.as_str().map(Secret::new).ok_or_else(|| no_token(diagnostics));
            let timeout = parse_timeout(&timeout).map_err(|error| {
                let detail = format!("`request_timeout` {error}.");
                diagnostics.error("request_timeout", "Not a length of time", detail)
            });
            let ca_certificates = read_ca_file(&ca_file, diagnostics).await;
            let settings = Settings {
                endpoint: endpoint.as_str().unwrap_or(DEFAULT_ENDPOINT).to_owned(),
                token: token?,
                ca_certificates: ca_certificates?,
                request_timeout: timeout?,
            };
            if settings.exposes_token() {
                warn_of_exposure(diagnostics);
            }
            let client = Client::new(settings, default_labels?).map_err(|error| {
                diagnostics.error(
                    error.argument,
                    "The provider can not be configured",
                    format!("{error}."),
                )
            })?;
            if (self.destroys)() {
                client.note_that_room_may_grow();
            }
            Ok(Some(client))
        })
    }

    fn resources(&self) -> &'static [&'static dyn Resource<Client>] {
        RESOURCES
    }

    fn data_sources(&self) -> &'static [&'static dyn DataSource<Client>] {
        DATA_SOURCES
    }

    fn ephemeral_resources(&self) -> &'static [&'static dyn Ephemeral<Client>] {
        EPHEMERAL_RESOURCES
    }

    fn list_resources(&self) -> &'static [&'static dyn List<Client>] {
        LIST_RESOURCES
    }

    fn actions(&self) -> &'static [&'static dyn Action<Client>] {
        ACTIONS
    }

    fn functions(&self) -> &'static [&'static dyn Function] {
        FUNCTIONS
    }
}

/// `RUNTIMECLOUD_ENDPOINT` for `endpoint`.
fn variable_of(argument: &str) -> String {
    format!("RUNTIMECLOUD_{}", argument.to_ascii_uppercase())
}

fn parse_timeout(value: &Value) -> Result<Duration, String> {
    let Some(text) = value.as_str() else { return Ok(DEFAULT_TIMEOUT) };
    match duration::parse(text) {
        Ok(Duration::ZERO) => Err("must be more than nothing".to_owned()),
        Ok(duration) => Ok(duration),
        Err(error) => Err(format!("is not usable: {error}")),
    }
}

/// `team=a,stage=dev`.
fn parse_labels(text: &str) -> Option<BTreeMap<String, String>> {
    let pair = |pair: &str| {
        let (key, value) = pair.split_once('=')?;
        let key = key.trim();
        (!key.is_empty()).then(|| (key.to_owned(), value.trim().to_owned()))
    };
    text.split(',').filter(|part| !part.trim().is_empty()).map(pair).collect()
}

async fn read_ca_file(
    path: &Value,
    diagnostics: &mut Diagnostics,
) -> Result<Option<Vec<u8>>, Reported> {
    let Some(path) = path.as_str() else { return Ok(None) };
    match tokio::fs::read(FilePath::new(path)).await {
        Ok(pem) => Ok(Some(pem)),
        Err(error) => Err(diagnostics.error(
            "ca_file",
            "Certificates can not be read",
            format!("`{path}`: {error}. Name a file of certificates in PEM form."),
        )),
    }
}

fn no_token(diagnostics: &mut Diagnostics) -> Reported {
    diagnostics.error(
        "token",
        "No token",
        "The host wants a token with every call. Give one as RUNTIMECLOUD_TOKEN (or as `token`, \
         from a variable). The host keeps its administrator's token in the file `admin.token` of \
         its data folder, and `runtimecloud token create` makes others.",
    )
}

fn warn_of_exposure(diagnostics: &mut Diagnostics) {
    diagnostics.warning(
        Path::attribute("endpoint"),
        "The token is sent in clear",
        "The endpoint is on another machine and speaks plain HTTP, so whoever listens on the way \
         can read the token. Use `https://`.",
    );
}
