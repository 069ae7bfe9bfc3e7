import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findBackend } from '@orch/testkit/backends'
import { openServiceSet, type Service, type ServiceSet } from '../chaos/service-set.ts'
import type { Shown } from './orch-server.ts'
import { Child } from './process.ts'

/** Separate services over an etcd and a nats-server, for the bench. */
export interface BenchSet {
  readonly set: ServiceSet
  readonly shown: Shown
  readonly ports: readonly number[]
  /** CPU time so far of each service, the sum of its processes, in microseconds. */
  cpu(): Readonly<Record<Service, number>>
}

const services: readonly Service[] = ['gateway', 'storage', 'watch', 'admission', 'controllers']

/** Starts the services, runs the function, and stops the services. */
export async function withSet<T>(counts: Partial<Record<Service, number>>, use: (bench: BenchSet) => Promise<T>): Promise<T> {
  const [etcd, nats] = [await findBackend('etcd'), await findBackend('nats-server')]
  if (etcd.kind === 'missing') throw new Error(etcd.reason)
  if (nats.kind === 'missing') throw new Error(nats.reason)
  const set = await openServiceSet({ etcdPath: etcd.path, natsPath: nats.path, counts, isLinked: false })
  const read = (name: string) => readFileSync(join(set.folder, name))
  const cpuOf = (service: Service) => set.of(service).reduce((sum, one) => sum + one.cpuMicros(), 0)
  try {
    return await use({
      set,
      shown: { ca: read('ca.crt'), cert: read('admin.crt'), key: read('admin.key') },
      ports: set.configurations.map(({ server }) => Number(new URL(server).port)),
      cpu: () => Object.fromEntries(services.map((service) => [service, cpuOf(service)])) as Record<Service, number>,
    })
  } finally {
    await set.close()
  }
}

/** A raw client of the same etcd, in a separate process. */
export async function startEtcdFloor({ etcd }: ServiceSet): Promise<Child> {
  const child = new Child([new URL('./etcd-floor.ts', import.meta.url).pathname, `http://${etcd.address}`])
  await child.told()
  return child
}

/** `gateway 95, storage 60`: the CPU time of one operation by service; leaves out services without any. */
export function perOperation(before: Readonly<Record<Service, number>>, after: Readonly<Record<Service, number>>, count: number): string {
  const each = services.map((service) => ({ service, micros: (after[service] - before[service]) / count }))
  return each.flatMap(({ service, micros }) => (micros < 0.1 ? [] : [`${service} ${micros.toFixed(micros < 10 ? 1 : 0)}`])).join(', ')
}

/** The sum over all services. */
export function totalOf(cpu: Readonly<Record<Service, number>>): number {
  return services.reduce((sum, service) => sum + cpu[service], 0)
}
