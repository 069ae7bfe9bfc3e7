import type { Profile } from '@orch/core/names'
import { SettingsError, type Values } from '@orch/platform'
import type { NatsOptions } from '@orch/platform/nats'
import { readCertificateFile, readFlagFile, readPairFiles } from '../configuration/flag-files.ts'
import { staysHere } from '../serving/loopback.ts'
import type { natsSettings } from './nats-settings.ts'

type NatsValues = Values<typeof natsSettings> & { readonly profile: Profile; readonly insecureTransport: boolean }

/** Where NATS is, how it is reached, and which stream there is ours. */
export interface ChangeStreamOptions extends Omit<NatsOptions, 'name'> {
  readonly profile: Profile
  /** Tells control planes apart that share one NATS. */
  readonly prefix: string
  /** How the stream is kept, for storage, which makes it. */
  readonly kept?: { readonly replicas: number; readonly ageMsMax: number } | undefined
}

/** Checks the settings; undefined: no NATS is used. */
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
    tls: readTls(settings),
    ...readUser(settings),
    credentialsFile: natsCredsFile === '' ? undefined : natsCredsFile,
    insecureTransport,
    profile,
    prefix: natsStream,
  }
}

function readTls({ natsCaFile, natsCertFile, natsKeyFile }: NatsValues): NatsOptions['tls'] {
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

function readUser({ natsUsername, natsPasswordFile }: NatsValues): Pick<NatsOptions, 'user' | 'password'> {
  if ((natsUsername === '') !== (natsPasswordFile === '')) throw new SettingsError('--nats-username and --nats-password-file go together')
  if (natsUsername === '') return {}
  return { user: natsUsername, password: readFlagFile('--nats-password-file', natsPasswordFile).replace(/\r?\n$/, '') }
}
