//! The calls of ephemeral resources: validate, open, renew, close.

use super::{Server, Shape};
use crate::framework::{Diagnostics, Ephemeral, Opened, Provider, Reported, Timeouts};
use jiff::Timestamp;
use proto::tfplugin6 as pb;
use std::time::Duration;

/// How long a renewal may take: the next is due soon after.
const RENEWAL: Duration = Duration::from_secs(60);
/// How long closing may take: someone waits for the run to end.
const CLOSING: Duration = Duration::from_secs(60);
/// Less would have the CLI renew without a pause.
const RENEWAL_PAUSE: Duration = Duration::from_secs(1);

impl<P: Provider> Server<P> {
    pub(super) fn validate_ephemeral(
        &self,
        request: &pb::validate_ephemeral_resource_config::Request,
        diagnostics: &mut Diagnostics,
    ) -> Result<pb::validate_ephemeral_resource_config::Response, Reported> {
        let ephemeral = self.ephemeral_resource(&request.type_name, diagnostics)?;
        let shape = Shape::new(ephemeral.schema());
        let config = shape.decode_config(request.config.as_ref(), diagnostics)?;
        ephemeral.validate(&config, diagnostics);
        Ok(Default::default())
    }

    pub(super) async fn open(
        &self,
        request: pb::open_ephemeral_resource::Request,
        diagnostics: &mut Diagnostics,
    ) -> Result<pb::open_ephemeral_resource::Response, Reported> {
        let ephemeral = self.ephemeral_resource(&request.type_name, diagnostics)?;
        let shape = Shape::new(ephemeral.schema());
        let config = shape.decode(request.config.as_ref(), diagnostics)?;
        let context = self.context(Timeouts::of(&config).open);
        let opened = ephemeral.open(&context, &config, diagnostics).await?;
        let Opened { result, renew_after, private } = opened;
        match shape.encode_found((&config, &result), diagnostics) {
            Ok(result) => Ok(pb::open_ephemeral_resource::Response {
                result,
                renew_at: renew_after.map(from_now),
                private: Some(private),
                ..Default::default()
            }),
            // Of what was not opened without an error, the CLI closes nothing.
            Err(reported) => {
                let _told = self.close_opened(ephemeral, &private, diagnostics).await;
                Err(reported)
            }
        }
    }

    pub(super) async fn renew(
        &self,
        request: pb::renew_ephemeral_resource::Request,
        diagnostics: &mut Diagnostics,
    ) -> Result<pb::renew_ephemeral_resource::Response, Reported> {
        let ephemeral = self.ephemeral_resource(&request.type_name, diagnostics)?;
        // What a run holds must not lapse while it ends what it is at.
        let context = self.context_to_the_end(RENEWAL);
        let private = request.private.unwrap_or_default();
        let renewed = ephemeral.renew(&context, &private, diagnostics).await?;
        Ok(pb::renew_ephemeral_resource::Response {
            renew_at: renewed.renew_after.map(from_now),
            private: Some(renewed.private),
            ..Default::default()
        })
    }

    pub(super) async fn close(
        &self,
        request: pb::close_ephemeral_resource::Request,
        diagnostics: &mut Diagnostics,
    ) -> Result<pb::close_ephemeral_resource::Response, Reported> {
        let ephemeral = self.ephemeral_resource(&request.type_name, diagnostics)?;
        let private = request.private.unwrap_or_default();
        self.close_opened(ephemeral, &private, diagnostics).await.map(|()| Default::default())
    }

    async fn close_opened(
        &self,
        ephemeral: &dyn Ephemeral<P::Client>,
        private: &[u8],
        diagnostics: &mut Diagnostics,
    ) -> Result<(), Reported> {
        let context = self.context_to_the_end(CLOSING);
        ephemeral.close(&context, private, diagnostics).await
    }
}

fn from_now(pause: Duration) -> prost_types::Timestamp {
    let due = Timestamp::now().saturating_add(pause.max(RENEWAL_PAUSE)).unwrap_or(Timestamp::MAX);
    prost_types::Timestamp { seconds: due.as_second(), nanos: due.subsec_nanosecond() }
}
