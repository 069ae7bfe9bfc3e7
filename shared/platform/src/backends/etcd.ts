import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePorts, openProgram, type Program } from './program.ts'

/** Certificate files of a server. Clients must present a certificate of the same authority. */
export interface BackendTls {
  readonly caFile: string
  readonly certFile: string
  readonly keyFile: string
}

/** One of several members that elect a leader. */
interface EtcdMember {
  readonly name: string
  /** Peer ports of all members, by name. */
  readonly peerPorts: Readonly<Record<string, number>>
}

/** Options of a local etcd. */
export interface EtcdOptions {
  /** The path of the program; see `locateBackend`. */
  readonly path: string
  /** Default: a new temporary folder, which the caller removes. */
  readonly dataDir?: string | undefined
  /** Default: a free port. */
  readonly port?: number | undefined
  readonly tls?: BackendTls | undefined
  /** Default: the only member. */
  readonly member?: EtcdMember | undefined
  /** Additional flags of the program. */
  readonly flags?: readonly string[] | undefined
}

/** Starts a local etcd that listens on loopback. */
export async function openEtcd({
  path,
  dataDir = mkdtempSync(join(tmpdir(), 'etcd-')),
  port,
  tls,
  member,
  flags = [],
}: EtcdOptions): Promise<Program> {
  const [clientPort = 0, freePort = 0, healthPort = 0] = await freePorts(3)
  const { name, peerPorts } = member ?? { name: 'local', peerPorts: { local: freePort } }
  const address = `127.0.0.1:${port ?? clientPort}`
  const clientUrl = `${tls === undefined ? 'http' : 'https'}://${address}`
  const peerUrl = `http://127.0.0.1:${peerPorts[name]}`
  const healthUrl = `http://127.0.0.1:${healthPort}`
  const settings = {
    name,
    'data-dir': dataDir,
    'listen-client-urls': clientUrl,
    'advertise-client-urls': clientUrl,
    'listen-peer-urls': peerUrl,
    'initial-advertise-peer-urls': peerUrl,
    'initial-cluster': Object.entries(peerPorts)
      .map(([peer, at]) => `${peer}=http://127.0.0.1:${at}`)
      .join(),
    'listen-metrics-urls': healthUrl,
    // Members on one machine are close, so half a second without a leader starts an election. A single member elects itself.
    ...(member === undefined
      ? { 'heartbeat-interval': '20', 'election-timeout': '200' }
      : { 'heartbeat-interval': '50', 'election-timeout': '500' }),
    logger: 'zap',
    'log-level': 'error',
    ...(tls === undefined ? {} : { 'cert-file': tls.certFile, 'key-file': tls.keyFile, 'trusted-ca-file': tls.caFile }),
  }
  const own = Object.entries(settings).map(([name, value]) => `--${name}=${value}`)
  const verified = tls === undefined ? [] : ['--client-cert-auth=true']
  return openProgram({ path, arguments: [...own, ...verified, ...flags], address, dataDir, healthUrl: `${healthUrl}/health` })
}
