import { settingsOf, settingTypes } from '@orch/platform'

const { int, list, path, string } = settingTypes
const setting = settingsOf('NATS')

/** How changes travel over NATS. */
export const natsSettings = {
  natsServers: setting({
    flag: '--nats-servers',
    type: list,
    doc: 'host:port of each NATS server. Without it watch reads changes from storage.',
  }),
  natsStream: setting({
    flag: '--nats-stream',
    type: string,
    doc: "Part of the stream's name, so that several control planes can share one NATS. Must be equal for storage and watch.",
  }),
  natsCaFile: setting({ flag: '--nats-cafile', type: path, doc: 'Certificate authorities of NATS.' }),
  natsCertFile: setting({
    flag: '--nats-certfile',
    type: path,
    doc: 'Client certificate for NATS. Certificates and --nats-credsfile are read for each connection, a password at the start.',
  }),
  natsKeyFile: setting({ flag: '--nats-keyfile', type: path, doc: 'Private key of --nats-certfile.' }),
  natsUsername: setting({ flag: '--nats-username', type: string, doc: 'User name for NATS with authentication.' }),
  natsPasswordFile: setting({ flag: '--nats-password-file', type: path, doc: 'File with the password of --nats-username.' }),
  natsCredsFile: setting({ flag: '--nats-credsfile', type: path, doc: 'Credentials file of NATS, as its own tools write it.' }),
}

/** How storage, which makes it, keeps the stream of changes in NATS. */
export const natsStreamSettings = {
  natsStreamReplicas: setting({
    flag: '--nats-stream-replicas',
    type: int({ min: 1, max: 5 }),
    default: '1',
    doc: 'Number of NATS servers that hold the stream. With one, watch reads changes from storage while that server is unavailable.',
  }),
}
