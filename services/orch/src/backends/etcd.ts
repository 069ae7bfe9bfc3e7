import type { Profile } from '@orch/core/names'
import { SettingsError, settingsOf, settingTypes, type Values } from '@orch/platform'
import type { EtcdStoreOptions } from '@orch/storage/etcd'
import { readCertificateFile, readPairFiles, readPasswordFile } from '../configuration/flag-files.ts'

const { list, path, string } = settingTypes
const setting = settingsOf('etcd')

/** The settings of storage's connection to etcd. */
export const etcdSettings = {
  etcdServers: setting({ flag: '--etcd-servers', type: list }, 'https://host:port of each etcd member.'),
  etcdPrefix: setting(
    { flag: '--etcd-prefix', type: string, defaultDoc: '/<profile>' },
    'Prefix of all keys, so that several control planes can share one etcd.',
  ),
  etcdCaFile: setting({ flag: '--etcd-cafile', type: path }, 'Certificate authorities of etcd.'),
  etcdCertFile: setting(
    { flag: '--etcd-certfile', type: path },
    'Client certificate for etcd. The files for etcd are read at the start; restart the replicas one by one when they change.',
  ),
  etcdKeyFile: setting({ flag: '--etcd-keyfile', type: path }, 'Private key of --etcd-certfile.'),
  etcdUsername: setting({ flag: '--etcd-username', type: string }, 'User name for etcd with authentication.'),
  etcdPasswordFile: setting({ flag: '--etcd-password-file', type: path }, 'File with the password of --etcd-username.'),
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
  const tls = readTls(settings)
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
