# By name, or by id.
terraform import runtimecloud_environment.dev environment-dev
