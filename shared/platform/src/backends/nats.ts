import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EtcdOptions } from './etcd.ts'
import { freePorts, openProgram, type Program } from './program.ts'

/** Options of a local nats-server with JetStream. */
export interface NatsOptions extends Pick<EtcdOptions, 'path' | 'dataDir' | 'port' | 'tls'> {
  readonly credentials?: { readonly username: string; readonly password: string } | undefined
  /** Memory for streams. Default: three quarters of the machine's. */
  readonly memoryBytesMax?: number | undefined
}

/** Starts a local nats-server that listens on loopback. */
export async function openNats({
  path,
  dataDir = mkdtempSync(join(tmpdir(), 'nats-')),
  port,
  tls,
  credentials,
  memoryBytesMax,
}: NatsOptions): Promise<Program> {
  const [clientPort = 0, healthPort = 0] = await freePorts(2)
  const clients = port ?? clientPort
  const config = {
    host: '127.0.0.1',
    port: clients,
    http: `127.0.0.1:${healthPort}`,
    jetstream: { store_dir: join(dataDir, 'jetstream'), ...(memoryBytesMax === undefined ? {} : { max_memory_store: memoryBytesMax }) },
    ...(tls === undefined ? {} : { tls: { cert_file: tls.certFile, key_file: tls.keyFile, ca_file: tls.caFile, verify: true } }),
    ...(credentials === undefined ? {} : { authorization: { user: credentials.username, password: credentials.password } }),
  }
  const configFile = join(dataDir, 'nats-server.conf')
  // The server's configuration format accepts JSON. A password in the arguments would be visible to every user of the machine.
  writeFileSync(configFile, JSON.stringify(config, undefined, 2), { mode: 0o600 })
  const address = `127.0.0.1:${clients}`
  return openProgram({ path, arguments: ['-c', configFile], address, dataDir, healthUrl: `http://127.0.0.1:${healthPort}/healthz` })
}
