import { setting, settingTypes } from '@orch/platform'

const { int, list, path, string } = settingTypes

/** How changes travel over NATS. */
export const natsSettings = {
  natsServers: setting({
    flag: '--nats-servers',
    env: 'ORCH_NATS_SERVERS',
    type: list,
    default: '',
    group: 'NATS',
    doc: 'host:port of each NATS server. Without it watch reads changes from storage.',
  }),
  natsStream: setting({
    flag: '--nats-stream',
    env: 'ORCH_NATS_STREAM',
    type: string,
    default: '',
    group: 'NATS',
    doc: "Part of the stream's name, so that several control planes can share one NATS. Must be equal for storage and watch.",
  }),
  natsCaFile: setting({
    flag: '--nats-cafile',
    env: 'ORCH_NATS_CAFILE',
    type: path,
    default: '',
    group: 'NATS',
    doc: 'Certificate authorities of NATS.',
  }),
  natsCertFile: setting({
    flag: '--nats-certfile',
    env: 'ORCH_NATS_CERTFILE',
    type: path,
    default: '',
    group: 'NATS',
    doc: 'Client certificate for NATS. Certificates and --nats-credsfile are read for each connection, a password at the start.',
  }),
  natsKeyFile: setting({
    flag: '--nats-keyfile',
    env: 'ORCH_NATS_KEYFILE',
    type: path,
    default: '',
    group: 'NATS',
    doc: 'Private key of --nats-certfile.',
  }),
  natsUsername: setting({
    flag: '--nats-username',
    env: 'ORCH_NATS_USERNAME',
    type: string,
    default: '',
    group: 'NATS',
    doc: 'User name for NATS with authentication.',
  }),
  natsPasswordFile: setting({
    flag: '--nats-password-file',
    env: 'ORCH_NATS_PASSWORD_FILE',
    type: path,
    default: '',
    group: 'NATS',
    doc: 'File with the password of --nats-username.',
  }),
  natsCredsFile: setting({
    flag: '--nats-credsfile',
    env: 'ORCH_NATS_CREDSFILE',
    type: path,
    default: '',
    group: 'NATS',
    doc: 'Credentials file of NATS, as its own tools write it.',
  }),
}

/** How storage, which makes it, keeps the stream of changes in NATS. */
export const natsStreamSettings = {
  natsStreamReplicas: setting({
    flag: '--nats-stream-replicas',
    env: 'ORCH_NATS_STREAM_REPLICAS',
    type: int({ min: 1, max: 5 }),
    default: '1',
    group: 'NATS',
    doc: 'Number of NATS servers that hold the stream. With one, watch reads changes from storage while that server is unavailable.',
  }),
}
