import { join } from 'node:path'
import { freePorts, openEtcd, type Program } from '@orch/platform/backends'

/** Opens an etcd of several members, each a process with its own subfolder. */
export async function openEtcdMembers({
  path,
  folder,
  count,
}: {
  readonly path: string
  readonly folder: string
  readonly count: number
}): Promise<Program[]> {
  const ports = await freePorts(count)
  const names = ports.map((_, index) => `member-${index}`)
  const peerPorts = Object.fromEntries(names.map((name, index) => [name, ports[index] ?? 0]))
  return Promise.all(names.map((name) => openEtcd({ path, dataDir: join(folder, name), member: { name, peerPorts } })))
}
