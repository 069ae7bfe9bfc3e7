import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MessageChannel, type MessagePort, parentPort, Worker } from 'node:worker_threads'
import type { Contract, Methods, Service } from '@orch/core/contracts'
import { namesOf } from '@orch/core/names'
import { certificateFolder, directLink, keepServiceCertificates, serviceTlsFiles, silentLog, systemClock } from '@orch/platform'

/** Contracts by the names that a test uses for them. */
export type Contracts = Readonly<Record<string, Contract<Methods>>>

/** The services of these contracts. */
type ServicesOf<C extends Contracts> = { readonly [N in keyof C]: Service<C[N]> }

/** Services that were opened together and end together. */
export interface OpenedServices<C extends Contracts> {
  readonly services: ServicesOf<C>
  close(): Promise<void>
}

/** One way in which a suite reaches the tested services. */
export interface ContractLink<C extends Contracts> {
  readonly name: string
  open(): Promise<OpenedServices<C>>
  /** Closes the link itself, after its last services have ended. */
  close(): Promise<void>
}

export interface ContractLinkOptions<C extends Contracts> {
  readonly contracts: C
  /** Opens new services in this process. */
  readonly open: () => Promise<OpenedServices<C>>
}

/**
 * All links: frozen function calls; messages to a thread that runs `script`, which calls `serveToParent`; and gRPC to a child
 * process that runs it, once without certificates and once with certificates of a gateway and of each service's role.
 */
export function contractSuiteLinks<C extends Contracts>(options: ContractLinkOptions<C> & { readonly script: URL }) {
  return {
    direct: directContractLink(options),
    thread: threadContractLink(options),
    plain: childContractLink({ ...options, name: 'gRPC to a child process', hasTls: false }),
    encrypted: childContractLink({ ...options, name: 'gRPC with mutual TLS to a child process', hasTls: true }),
  }
}

function directContractLink<C extends Contracts>({ contracts, open }: ContractLinkOptions<C>): ContractLink<C> {
  return {
    name: 'direct and frozen',
    async open() {
      const opened = await open()
      const links = Object.entries(contracts).map(([name, contract]) => {
        // The mapped type ties each service to the contract of the same name; TypeScript loses that in the loop.
        const service = opened.services[name] as Service<Contract<Methods>>
        return { name, link: directLink(contract, service, { freeze: true }) }
      })
      return {
        services: Object.fromEntries(links.map(({ name, link }) => [name, link.service])) as ServicesOf<C>,
        async close() {
          await opened.close()
          for (const { link } of links) link.verify()
        },
      }
    },
    close: async () => {},
  }
}

interface ChildLinkOptions<C extends Contracts> {
  readonly name: string
  readonly contracts: C
  readonly script: URL
  readonly hasTls: boolean
}

function childContractLink<C extends Contracts>({ name, contracts, script, hasTls }: ChildLinkOptions<C>): ContractLink<C> {
  let child: ChildProcess | undefined
  let certificates = ''
  return {
    name,
    async open() {
      const { dialContract } = await import('@orch/platform/rpc')
      child ??= fork(fileURLToPath(script), { execArgv: ['--conditions=source', '--disable-warning=ExperimentalWarning'] })
      if (hasTls && certificates === '') certificates = await someServiceCertificates()
      const { id, addresses } = await ask(child, { kind: 'open', certificates })
      const tls = hasTls ? serviceTlsFiles(certificates, 'gateway') : undefined
      const dialled = Object.entries(contracts).map(([contractName, contract]) => ({
        name: contractName,
        ...dialContract(contract, { addresses: [addresses[contractName] ?? ''], tls, random: Math.random, log: silentLog }),
      }))
      // On a busy machine a connection may take longer than a call waits for one.
      await Promise.all(dialled.map(({ reached }) => reached))
      const held = child
      return {
        services: Object.fromEntries(dialled.map(({ name, service }) => [name, service])) as ServicesOf<C>,
        async close() {
          for (const { close } of dialled) close()
          await ask(held, { kind: 'close', id })
        },
      }
    },
    async close() {
      if (certificates !== '') rmSync(certificates, { recursive: true })
      if (child === undefined || child.exitCode !== null) return
      const exited = once(child, 'exit')
      child.disconnect()
      await exited
    },
  }
}

function threadContractLink<C extends Contracts>({ contracts, script }: { readonly contracts: C; readonly script: URL }): ContractLink<C> {
  let worker: Worker | undefined
  return {
    name: 'messages to a thread',
    async open() {
      const { dialThread } = await import('@orch/platform/thread-link')
      worker ??= new Worker(script, { execArgv: ['--conditions=source', '--disable-warning=ExperimentalWarning'] })
      const { port1, port2 } = new MessageChannel()
      const link = dialThread(port1)
      const { id } = await ask(worker, { kind: 'offer', port: port2 })
      const held = worker
      return {
        services: Object.fromEntries(Object.entries(contracts).map(([name, contract]) => [name, link.service(contract)])) as ServicesOf<C>,
        async close() {
          link.close()
          await ask(held, { kind: 'close', id })
        },
      }
    },
    async close() {
      await worker?.terminate()
    },
  }
}

/** A folder with certificates of each role for this machine. */
async function someServiceCertificates(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'contract-certificates-'))
  const hostNames = ['localhost', '127.0.0.1']
  await keepServiceCertificates({ files: certificateFolder(folder), names: namesOf('orch'), hostNames, clock: systemClock })
  return folder
}

/** `certificates` is a folder, or empty for unencrypted connections; `port` is the other thread's message port. */
type Question =
  | { readonly kind: 'open'; readonly certificates: string }
  | { readonly kind: 'offer'; readonly port: MessagePort }
  | { readonly kind: 'close'; readonly id: string }
interface Opened {
  readonly id: string
  readonly addresses: Readonly<Record<string, string>>
}
interface Asked {
  readonly number: number
  readonly question: Question
}
interface Answer extends Opened {
  /** The number of the question: the parent may have abandoned an earlier question. */
  readonly number: number
  readonly failure?: string
}

let questions = 0

async function ask(child: ChildProcess | Worker, question: Question): Promise<Opened> {
  questions += 1
  const asked: Asked = { number: questions, question }
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const take = (answer: Answer) => {
    if (answer.number === asked.number) resolve(answer)
  }
  const fail = (code: number | null) => reject(new Error(`the child has ended with ${code}`))
  child.on('message', take)
  child.on('exit', fail)
  try {
    if (child instanceof Worker) child.postMessage(asked, question.kind === 'offer' ? [question.port] : [])
    else child.send(asked)
    const answer = await promise
    if (answer.failure !== undefined) throw new Error(`the child has failed: ${answer.failure}`)
    return answer
  } finally {
    child.off('message', take)
    child.off('exit', fail)
  }
}

/** The child's side, in a process or thread: opens and serves services on the parent's request, and ends with the parent. */
export function serveToParent<C extends Contracts>({ contracts, open }: ContractLinkOptions<C>): void {
  const closers = new Map<string, () => Promise<void>>()
  let lastId = 0
  const keep = (close: () => Promise<void>) => {
    lastId += 1
    closers.set(String(lastId), close)
    return String(lastId)
  }
  const answer = async (question: Question): Promise<Opened> => {
    if (question.kind === 'close') {
      await closers.get(question.id)?.()
      closers.delete(question.id)
      return { id: question.id, addresses: {} }
    }
    const opened = await open()
    if (question.kind === 'offer') return { id: keep(await offerTo(question.port, contracts, opened)), addresses: {} }
    const { openRpcServer, serveContract } = await import('@orch/platform/rpc')
    const { certificates } = question
    const servers = Object.entries(contracts).map(async ([name, contract]) => {
      const [offeredBy] = contract.offeredBy
      const tls = certificates === '' || offeredBy === undefined ? undefined : serviceTlsFiles(certificates, offeredBy)
      // As above: the service of the same name.
      const offers = [serveContract(contract, opened.services[name] as Service<Contract<Methods>>)]
      return { name, server: await openRpcServer({ address: '127.0.0.1:0', offers, tls, log: silentLog }) }
    })
    const listening = await Promise.all(servers)
    const id = keep(async () => {
      for (const { server } of listening) server.close()
      await opened.close()
    })
    return { id, addresses: Object.fromEntries(listening.map(({ name, server }) => [name, server.address])) }
  }
  const tell = (given: Answer) => (parentPort === null ? void process.send?.(given) : parentPort.postMessage(given))
  const take = ({ number, question }: Asked) => {
    answer(question).then(
      (given) => tell({ ...given, number }),
      (error: unknown) => tell({ number, id: '', addresses: {}, failure: String(error) }),
    )
  }
  if (parentPort !== null) {
    parentPort.on('message', take)
    return
  }
  process.on('message', take)
  process.on('disconnect', () => process.exit(0))
}

/** Serves the services over a port; the returned function ends both. */
async function offerTo<C extends Contracts>(port: MessagePort, contracts: C, opened: OpenedServices<C>): Promise<() => Promise<void>> {
  const { serveThread } = await import('@orch/platform/thread-link')
  const offer = serveThread(
    port,
    // As above: the service of the same name.
    Object.entries(contracts).map(([name, contract]) => ({ contract, service: opened.services[name] as Service<Contract<Methods>> })),
  )
  return async () => {
    offer.close()
    await opened.close()
  }
}
