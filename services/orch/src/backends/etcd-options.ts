import type { Profile } from '@orch/core/names'
import { SettingsError, type Values } from '@orch/platform'
import type { EtcdStoreOptions } from '@orch/storage/etcd'
import { readCertificateFile, readFlagFile, readPairFiles } from '../configuration/flag-files.ts'
import type { etcdSettings } from './etcd-settings.ts'

type EtcdValues = Values<typeof etcdSettings> & { readonly profile: Profile; readonly insecureTransport: boolean }

/** Where etcd is and how it is reached, with the texts of the files that the settings name. */
export type EtcdOptions = Pick<EtcdStoreOptions, 'servers' | 'tls' | 'credentials' | 'insecureTransport' | 'prefix' | 'profile'>

/** Checks the settings and reads the files that they name. */
export function readEtcd(settings: EtcdValues): EtcdOptions {
  const { etcdServers, etcdPrefix, profile, insecureTransport } = settings
  for (const server of etcdServers) {
    if (!/^https?:\/\/[^/]+:\d{1,5}\/?$/.test(server)) {
      throw new SettingsError(`--etcd-servers=${server}: must be an address such as https://127.0.0.1:2379`)
    }
  }
  return {
    servers: etcdServers,
    tls: readTls(settings),
    credentials: readCredentials(settings),
    insecureTransport,
    prefix: etcdPrefix === '' ? `/${profile}` : etcdPrefix,
    profile,
  }
}

function readTls({ etcdCaFile, etcdCertFile, etcdKeyFile }: EtcdValues): EtcdOptions['tls'] {
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

function readCredentials({ etcdUsername, etcdPasswordFile }: EtcdValues): EtcdOptions['credentials'] {
  if ((etcdUsername === '') !== (etcdPasswordFile === '')) throw new SettingsError('--etcd-username and --etcd-password-file go together')
  if (etcdUsername === '') return undefined
  return { username: etcdUsername, password: readFlagFile('--etcd-password-file', etcdPasswordFile).replace(/\r?\n$/, '') }
}
