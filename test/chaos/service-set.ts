import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, type ClientConfiguration, createClient, createHttpsTransport, printConfiguration } from '@orch/client'
import type { ServiceRole } from '@orch/core/contracts'
import { namesOf } from '@orch/core/names'
import { certificateFolder, keepServiceCertificates, readCertificates, servingNames, systemClock } from '@orch/platform'
import { type BackendTls, freePorts, openEtcd, openNats, type Program } from '@orch/platform/backends'
import { openEtcdMembers } from '@orch/testkit/backends'
import { askEtcd } from './etcd-log.ts'
import { type Link, openLink } from './link.ts'
import { createServiceProcess, type ServiceProcess } from './service-process.ts'

/** The services of a set. */
export type Service = 'gateway' | 'storage' | 'watch' | 'admission' | 'controllers'

/** A set of real processes over an etcd and a nats-server. */
export interface ServiceSet {
  readonly folder: string
  /** The processes by name, e.g. `gateway-0`. */
  readonly processes: ReadonlyMap<string, ServiceProcess>
  /** The first member. */
  readonly etcd: Program
  readonly etcdMembers: readonly Program[]
  readonly nats: Program
  /** The links by `caller>callee`, e.g. `gateway-0>storage-1`, `watch-0>nats`. */
  readonly links: ReadonlyMap<string, Link>
  /** One client for each gateway. */
  readonly clients: readonly Client[]
  /** The client configuration of each gateway. */
  readonly configurations: readonly ClientConfiguration[]
  of(service: Service): ServiceProcess[]
  close(): Promise<void>
}

/** The number of each service's processes, and their settings except the addresses of the others. */
export interface ServiceSetOptions {
  readonly etcdPath: string
  readonly natsPath: string
  readonly counts?: Partial<Readonly<Record<Service, number>>>
  readonly flags?: Partial<Readonly<Record<Service, readonly string[]>>>
  /** Default: 1. */
  readonly etcdMembers?: number
  /** The users whose passwords etcd and NATS require; absent: no password. */
  readonly passwords?: { readonly username: string; readonly password: string }
  /** True if etcd and NATS use TLS with client certificates: a damaged byte then damages a record. Allows one member only. */
  readonly hasBackendTls?: boolean
  /** True if the test can harm the services: links join them, and their clocks can be moved. */
  readonly isLinked?: boolean
}

const loopback = '127.0.0.1'
/** The gateways' key for service account tokens. */
const signingKey = 'service-accounts.key'
const startMsMax = 60_000
const usualCounts: Readonly<Record<Service, number>> = { gateway: 2, storage: 2, watch: 2, admission: 1, controllers: 1 }

/** Starts a set and waits until each process is ready. */
export async function openServiceSet(options: ServiceSetOptions): Promise<ServiceSet> {
  const folder = mkdtempSync(join(tmpdir(), 'orch-set-'))
  for (const name of ['etcd', 'nats', 'services', 'logs']) mkdirSync(join(folder, name))
  const certificates = await makeCertificates(folder)
  const file = (name: string) => join(folder, 'services', name)
  const tls =
    options.hasBackendTls === true ? { caFile: file('ca.crt'), certFile: file('storage.crt'), keyFile: file('storage.key') } : undefined
  const [etcdMembers, nats] = await Promise.all([
    openMembers(options, join(folder, 'etcd'), tls),
    openNats({ path: options.natsPath, dataDir: join(folder, 'nats'), credentials: options.passwords, tls }),
  ])
  const [etcd] = etcdMembers
  if (etcd === undefined) throw new RangeError('etcd has one member at least')
  if (options.passwords !== undefined) await askForPasswords(etcd.address, options.passwords)
  const plan = await makePlan({ folder, etcdMembers, nats, certificates, tls, options })
  const clients = plan.configurations.map((configuration) => createClient(createHttpsTransport(configuration)))
  const set: ServiceSet = {
    folder,
    processes: plan.processes,
    etcd,
    etcdMembers,
    nats,
    links: plan.links,
    clients,
    configurations: plan.configurations,
    of: (service) => [...plan.processes.values()].filter(({ name }) => name.startsWith(`${service}-`)),
    async close() {
      for (const client of clients) client.close()
      await Promise.all([...plan.processes.values()].map((one) => one.kill()))
      for (const link of plan.links.values()) link.close()
      await Promise.all([...etcdMembers, nats].map((program) => program.kill()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
  for (const one of plan.processes.values()) one.start()
  try {
    await Promise.all([...plan.processes.values()].map((one) => one.ready(startMsMax)))
  } catch (error) {
    const logs = [...plan.processes.values()].map((one) => `${one.name}:\n${one.log().slice(-1_500)}`).join('\n')
    await set.close()
    throw new Error(`${(error as Error).message}\n${logs}`, { cause: error })
  }
  return set
}

async function openMembers(
  { etcdPath: path, etcdMembers: count = 1 }: ServiceSetOptions,
  folder: string,
  tls: BackendTls | undefined,
): Promise<Program[]> {
  return count === 1 ? [await openEtcd({ path, dataDir: folder, tls })] : openEtcdMembers({ path, folder, count })
}

/** After this call, etcd answers only authenticated clients. */
async function askForPasswords(address: string, { username, password }: NonNullable<ServiceSetOptions['passwords']>): Promise<void> {
  for (const name of new Set([username, 'root'])) await askEtcd(address, '/v3/auth/user/add', { name, password })
  await askEtcd(address, '/v3/auth/role/add', { name: 'root' }).catch(() => {})
  for (const user of new Set([username, 'root'])) await askEtcd(address, '/v3/auth/user/grant', { user, role: 'root' })
  await askEtcd(address, '/v3/auth/enable', {})
}

interface PlanOptions {
  readonly folder: string
  readonly etcdMembers: readonly Program[]
  readonly nats: Program
  readonly certificates: Certificates
  readonly tls: BackendTls | undefined
  readonly options: ServiceSetOptions
}

async function makePlan({ folder, etcdMembers, nats, certificates, tls, options }: PlanOptions) {
  const { counts = {}, flags = {}, passwords, isLinked = true } = options
  const names = namesOf('orch')
  const count = (service: Service) => counts[service] ?? usualCounts[service]
  const numbered = (service: Service) => Array.from({ length: count(service) }, (_, index) => `${service}-${index}`)
  const all = (['storage', 'watch', 'admission', 'gateway', 'controllers'] as const).flatMap(numbered)
  const ports = await freePorts(2 * all.length)
  const portOf = new Map<string, number>(all.map((name, index) => [name, ports[index] as number]))
  const etcdNames = etcdMembers.map((_, index) => (index === 0 ? 'etcd' : `etcd-${index}`))
  for (const [index, name] of etcdNames.entries()) portOf.set(name, Number(etcdMembers[index]?.address.split(':')[1]))
  portOf.set('nats', Number(nats.address.split(':')[1]))
  const probeOf = new Map(all.map((name, index) => [name, `${loopback}:${ports[all.length + index]}`]))
  const links = new Map<string, Link>()
  const reach = async (caller: string, callee: string): Promise<string> => {
    const port = portOf.get(callee) as number
    if (!isLinked) return `${loopback}:${port}`
    const link = await openLink(port)
    links.set(`${caller}>${callee}`, link)
    return `${loopback}:${link.port}`
  }
  const reachAll = async (caller: string, service: Service) => {
    const reached = await Promise.all(numbered(service).map((callee) => reach(caller, callee)))
    return `--${service}-address=${reached.join(',')}`
  }
  const trust = (role: ServiceRole) => {
    const file = (name: string) => join(folder, 'services', name)
    return [`--service-certificate=${file(`${role}.crt`)}`, `--service-key=${file(`${role}.key`)}`, `--service-ca=${file('ca.crt')}`]
  }
  const passwordFile = join(folder, 'password')
  if (passwords !== undefined) writeFileSync(passwordFile, `${passwords.password}\n`, { mode: 0o600 })
  const known = (backend: 'etcd' | 'nats') => [
    ...(passwords === undefined ? [] : [`--${backend}-username=${passwords.username}`, `--${backend}-password-file=${passwordFile}`]),
    ...(tls === undefined
      ? []
      : [`--${backend}-cafile=${tls.caFile}`, `--${backend}-certfile=${tls.certFile}`, `--${backend}-keyfile=${tls.keyFile}`]),
  ]
  const scheme = tls === undefined ? 'http' : 'https'
  const inner = (name: string) => [`--listen=${loopback}:${portOf.get(name)}`, `--probe-address=${probeOf.get(name)}`]
  const argumentsOf: Readonly<Record<Service, (name: string) => Promise<string[]>>> = {
    storage: async (name) => [
      ...inner(name),
      `--etcd-servers=${(await Promise.all(etcdNames.map(async (member) => `${scheme}://${await reach(name, member)}`))).join()}`,
      `--nats-servers=${await reach(name, 'nats')}`,
      ...known('etcd'),
      ...known('nats'),
    ],
    watch: async (name) => [
      ...inner(name),
      await reachAll(name, 'storage'),
      `--nats-servers=${await reach(name, 'nats')}`,
      ...known('nats'),
    ],
    admission: async (name) => [...inner(name), await reachAll(name, 'storage')],
    gateway: async (name) => [
      `--secure-port=${portOf.get(name)}`,
      await reachAll(name, 'storage'),
      await reachAll(name, 'watch'),
      await reachAll(name, 'admission'),
      `--client-ca-file=${join(folder, 'ca.crt')}`,
      `--tls-cert-file=${join(folder, 'serving.crt')}`,
      `--tls-private-key-file=${join(folder, 'serving.key')}`,
      `--service-account-signing-key-file=${join(folder, signingKey)}`,
    ],
    controllers: async (name) => {
      const kubeconfig = join(folder, `${name}.conf`)
      const server = `https://${await reach(name, 'gateway-0')}`
      writeFileSync(kubeconfig, printConfiguration({ cluster: 'set', user: 'admin', configuration: { ...certificates.client, server } }))
      const key = `--service-account-private-key-file=${join(folder, signingKey)}`
      return [`--kubeconfig=${kubeconfig}`, `--probe-address=${probeOf.get(name)}`, key]
    },
  }
  const processes = new Map<string, ServiceProcess>()
  for (const name of all) {
    const service = name.slice(0, name.lastIndexOf('-')) as Service
    const given = [service, ...(await argumentsOf[service](name)), ...trust(service), ...(flags[service] ?? [])]
    const isGateway = service === 'gateway'
    processes.set(
      name,
      createServiceProcess({
        name,
        arguments: given,
        readyUrl: isGateway ? `https://${loopback}:${portOf.get(name)}/readyz` : `http://${probeOf.get(name)}/readyz`,
        authority: isGateway ? certificates.client.certificateAuthority : undefined,
        logFile: join(folder, 'logs', name),
        isShiftable: isLinked,
      }),
    )
  }
  const configurations = numbered('gateway').map((name) => ({ ...certificates.client, server: `https://${loopback}:${portOf.get(name)}` }))
  return { names, processes, links, configurations }
}

type Certificates = Awaited<ReturnType<typeof makeCertificates>>

async function makeCertificates(folder: string) {
  const names = namesOf('orch')
  const hostNames = ['localhost', loopback]
  await keepServiceCertificates({ files: certificateFolder(join(folder, 'services')), names, hostNames, clock: systemClock })
  const made = await readCertificates({
    files: certificateFolder(folder),
    product: names.serverServiceName,
    names: servingNames({ names, hostName: hostname(), bindAddress: loopback, serviceAddress: '10.0.0.1' }),
    clock: systemClock,
  })
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  writeFileSync(join(folder, signingKey), privateKey.export({ type: 'pkcs8', format: 'pem' }))
  return {
    client: { certificateAuthority: made.authority, clientCertificate: made.admin.certificate, clientKey: made.admin.key },
  }
}
