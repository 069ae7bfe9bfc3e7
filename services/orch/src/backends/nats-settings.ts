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
    doc: 'Where NATS is: host:port of each server. Without it watch reads the changes from storage.',
  }),
  natsStream: setting({
    flag: '--nats-stream',
    env: 'ORCH_NATS_STREAM',
    type: string,
    default: '',
    group: 'NATS',
    doc: 'Part of the name of the stream, so that several control planes can share one NATS. Storage and watch must be given the same.',
  }),
  natsCaFile: setting({
    flag: '--nats-cafile',
    env: 'ORCH_NATS_CAFILE',
    type: path,
    default: '',
    group: 'NATS',
    doc: 'Authorities of the certificates that NATS shows.',
  }),
  natsCertFile: setting({
    flag: '--nats-certfile',
    env: 'ORCH_NATS_CERTFILE',
    type: path,
    default: '',
    group: 'NATS',
    doc: 'Certificate to show to NATS. Certificates and --nats-credsfile are read again at each connection, a password at the start.',
  }),
  natsKeyFile: setting({
    flag: '--nats-keyfile',
    env: 'ORCH_NATS_KEYFILE',
    type: path,
    default: '',
    group: 'NATS',
    doc: 'Private key that belongs to --nats-certfile.',
  }),
  natsUsername: setting({
    flag: '--nats-username',
    env: 'ORCH_NATS_USERNAME',
    type: string,
    default: '',
    group: 'NATS',
    doc: 'User of NATS, where it asks for one.',
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
    doc: 'File with credentials of NATS, as its own tools write them.',
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
    doc: 'Servers of a NATS cluster that hold the stream. With one, watch reads the changes from storage while that server is away.',
  }),
}
