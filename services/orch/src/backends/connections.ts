import type { Profile } from '@orch/core/names'
import { messageOf, readFlagFile, SettingsError, settingsOf, settingTypes, type Values } from '@orch/platform'
import type { ChangeStream, NatsOptions } from '@orch/platform/nats'
import type { EtcdStoreOptions } from '@orch/storage/etcd'
import { readCertificateFile, readPairFiles, readPasswordFile } from '../configuration/files.ts'
import { StartError } from '../process/terminal.ts'
import { staysHere } from '../serving/loopback.ts'
import type { Surroundings } from '../surroundings.ts'

const { int, list, path, string } = settingTypes
const ofEtcd = settingsOf('etcd')

/** The settings of storage's connection to etcd. */
export const etcdSettings = {
  etcdServers: ofEtcd({ flag: '--etcd-servers', type: list }, 'https://host:port of each etcd member.'),
  etcdPrefix: ofEtcd(
    { flag: '--etcd-prefix', type: string, defaultDoc: '/<profile>' },
    'Prefix of all keys, so that several control planes can share one etcd.',
  ),
  etcdCaFile: ofEtcd({ flag: '--etcd-cafile', type: path }, 'Certificate authorities of etcd.'),
  etcdCertFile: ofEtcd(
    { flag: '--etcd-certfile', type: path },
    'Client certificate for etcd. The files for etcd are read at the start; restart the replicas one by one when they change.',
  ),
  etcdKeyFile: ofEtcd({ flag: '--etcd-keyfile', type: path }, 'Private key of --etcd-certfile.'),
  etcdUsername: ofEtcd({ flag: '--etcd-username', type: string }, 'User name for etcd with authentication.'),
  etcdPasswordFile: ofEtcd({ flag: '--etcd-password-file', type: path }, 'File with the password of --etcd-username.'),
}

type EtcdValues = Values<typeof etcdSettings> & { readonly profile: Profile; readonly insecureTransport: boolean }

/** The address of etcd and the connection to it, with the contents of the files in the settings. */
export type EtcdOptions = Pick<EtcdStoreOptions, 'servers' | 'tls' | 'credentials' | 'insecureTransport' | 'prefix' | 'profile'>

/** Checks the settings and reads the files that they name. */
export function readEtcd(settings: EtcdValues): EtcdOptions {
  const { etcdServers, etcdPrefix, profile, insecureTransport } = settings
  for (const server of etcdServers) {
    if (!/^https?:\/\/[^/]+:\d{1,5}\/?$/.test(server)) {
      throw new SettingsError(`--etcd-servers=${server}: must be an address such as https://127.0.0.1:2379`)
    }
  }
  const tls = readEtcdTls(settings)
  const user = readPasswordFile('--etcd', settings.etcdUsername, settings.etcdPasswordFile)
  return {
    servers: etcdServers,
    tls,
    credentials: user && { username: user.user, password: user.password },
    insecureTransport,
    prefix: etcdPrefix === '' ? `/${profile}` : etcdPrefix,
    profile,
  }
}

function readEtcdTls({ etcdCaFile, etcdCertFile, etcdKeyFile }: EtcdValues): EtcdOptions['tls'] {
  if ((etcdCertFile === '') !== (etcdKeyFile === '')) throw new SettingsError('--etcd-certfile and --etcd-keyfile go together')
  if (etcdCaFile === '' && etcdCertFile === '') return undefined
  return {
    ...(etcdCaFile === '' ? {} : { ca: Buffer.from(readCertificateFile('--etcd-cafile', etcdCaFile)) }),
    ...(etcdCertFile === '' ? {} : readPair(etcdCertFile, etcdKeyFile)),
  }
}

function readPair(certificatePath: string, keyPath: string) {
  const { certificate, key } = readPairFiles({
    certificate: { flag: '--etcd-certfile', path: certificatePath },
    key: { flag: '--etcd-keyfile', path: keyPath },
  })
  return { certificate: Buffer.from(certificate), key: Buffer.from(key) }
}

const ofNats = settingsOf('NATS')

/** The settings of changes over NATS. */
export const natsSettings = {
  natsServers: ofNats(
    { flag: '--nats-servers', type: list },
    'host:port of each NATS server. Without it watch reads changes from storage.',
  ),
  natsStream: ofNats(
    { flag: '--nats-stream', type: string },
    "Part of the stream's name, so that several control planes can share one NATS. Must be equal for storage and watch.",
  ),
  natsCaFile: ofNats({ flag: '--nats-cafile', type: path }, 'Certificate authorities of NATS.'),
  natsCertFile: ofNats(
    { flag: '--nats-certfile', type: path },
    'Client certificate for NATS. Certificates and --nats-credsfile are read for each connection, a password at the start.',
  ),
  natsKeyFile: ofNats({ flag: '--nats-keyfile', type: path }, 'Private key of --nats-certfile.'),
  natsUsername: ofNats({ flag: '--nats-username', type: string }, 'User name for NATS with authentication.'),
  natsPasswordFile: ofNats({ flag: '--nats-password-file', type: path }, 'File with the password of --nats-username.'),
  natsCredsFile: ofNats({ flag: '--nats-credsfile', type: path }, 'Credentials file of NATS, as its own tools write it.'),
}

/** The settings of the stream of changes in NATS, for storage, which creates it. */
export const natsStreamSettings = {
  natsStreamReplicas: ofNats(
    { flag: '--nats-stream-replicas', type: int({ min: 1, max: 5 }), default: '1' },
    'Number of NATS servers that hold the stream. With one, watch reads changes from storage while that server is unavailable.',
  ),
}

type NatsValues = Values<typeof natsSettings> & { readonly profile: Profile; readonly insecureTransport: boolean }

/** The address of NATS, the connection to it, and our stream there. */
export interface ChangeStreamOptions extends Omit<NatsOptions, 'name'> {
  readonly profile: Profile
  /** Distinguishes control planes that share one NATS. */
  readonly prefix: string
  /** The retention of the stream, for storage, which creates it. */
  readonly kept?: { readonly replicas: number; readonly ageMsMax: number } | undefined
}

/** Checks the settings; undefined without NATS. */
export function readNats(settings: NatsValues): ChangeStreamOptions | undefined {
  const { natsServers, natsStream, natsCaFile, natsCertFile, natsCredsFile, profile, insecureTransport } = settings
  if (natsServers.length === 0) return undefined
  for (const server of natsServers) {
    if (!/^[^/@\s]+:\d{1,5}$/.test(server)) throw new SettingsError(`--nats-servers=${server}: must be host:port`)
    if (natsCaFile === '' && natsCertFile === '' && !insecureTransport && !staysHere(server)) {
      throw new SettingsError(
        `--nats-servers=${server}: what leaves this machine must be encrypted: give --nats-cafile, or --insecure-transport`,
      )
    }
  }
  if (natsCredsFile !== '') readFlagFile('--nats-credsfile', natsCredsFile)
  return {
    servers: natsServers,
    tls: readNatsTls(settings),
    ...readPasswordFile('--nats', settings.natsUsername, settings.natsPasswordFile),
    credentialsFile: natsCredsFile === '' ? undefined : natsCredsFile,
    insecureTransport,
    profile,
    prefix: natsStream,
  }
}

function readNatsTls({ natsCaFile, natsCertFile, natsKeyFile }: NatsValues): NatsOptions['tls'] {
  if ((natsCertFile === '') !== (natsKeyFile === '')) throw new SettingsError('--nats-certfile and --nats-keyfile go together')
  if (natsCaFile === '' && natsCertFile === '') return undefined
  if (natsCaFile !== '') readCertificateFile('--nats-cafile', natsCaFile)
  if (natsCertFile !== '')
    readPairFiles({ certificate: { flag: '--nats-certfile', path: natsCertFile }, key: { flag: '--nats-keyfile', path: natsKeyFile } })
  return {
    ...(natsCaFile === '' ? {} : { caFile: natsCaFile }),
    ...(natsCertFile === '' ? {} : { certFile: natsCertFile }),
    ...(natsKeyFile === '' ? {} : { keyFile: natsKeyFile }),
  }
}

/** The stream of published changes: storage writes it, and watch reads it. It is closed with the lifecycle. The client of NATS is loaded here. */
export async function openChangeStream(
  { profile, prefix, kept, ...access }: ChangeStreamOptions,
  service: string,
  { lifecycle, catalogue }: Pick<Surroundings, 'lifecycle' | 'catalogue'>,
): Promise<ChangeStream> {
  const { createJetStream, createNats, streamName } = await import('@orch/platform/nats')
  try {
    const nats = createNats({ ...access, name: `${catalogue.names.serverServiceName}-${service}` })
    const stream = createJetStream({ nats, name: streamName({ profile, prefix }), ...kept })
    lifecycle.onStop('connection to NATS', async () => {
      await stream.close()
      await nats.close()
    })
    return stream
  } catch (error) {
    throw new StartError(`--nats-servers: ${messageOf(error)}`, { cause: error })
  }
}
