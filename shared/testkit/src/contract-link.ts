import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Contract, Methods, Service } from '@orch/core/contracts'
import { namesOf } from '@orch/core/names'
import { certificateFolder, directLink, keepServiceCertificates, serviceTlsFiles, silentLog, systemClock } from '@orch/platform'

/** Contracts by the names that a test uses for them. */
export type Contracts = Readonly<Record<string, Contract<Methods>>>

/** The services of these contracts. */
type ServicesOf<C extends Contracts> = { readonly [N in keyof C]: Service<C[N]> }

/** Services that were opened together, and end together. */
export interface OpenedServices<C extends Contracts> {
  readonly services: ServicesOf<C>
  close(): Promise<void>
}

/** One way in which a suite reaches the services it tries. */
export interface ContractLink<C extends Contracts> {
  readonly name: string
  /** Fresh services. */
  open(): Promise<OpenedServices<C>>
  /** Ends what the link itself holds, after the last services. */
  close(): Promise<void>
}

export interface ContractLinkOptions<C extends Contracts> {
  readonly contracts: C
  /** Fresh services in this process. */
  readonly open: () => Promise<OpenedServices<C>>
}

/**
 * All ways: frozen function calls, and gRPC to a child process that runs `script`, which calls `serveToParent`; without
 * certificates, and with those of a gateway on one side and of each service's own role on the other.
 */
export function contractSuiteLinks<C extends Contracts>(
  options: ContractLinkOptions<C> & { readonly script: URL },
): readonly ContractLink<C>[] {
  const plain = childContractLink({ ...options, name: 'gRPC to a child process', hasTls: false })
  const encrypted = childContractLink({ ...options, name: 'gRPC with mutual TLS to a child process', hasTls: true })
  return [directContractLink(options), plain, encrypted]
}

function directContractLink<C extends Contracts>({ contracts, open }: ContractLinkOptions<C>): ContractLink<C> {
  return {
    name: 'direct and frozen',
    async open() {
      const opened = await open()
      const links = Object.entries(contracts).map(([name, contract]) => {
        // A service of the contract of the same name: the mapped type says so, the loop does not.
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

/** A folder with certificates of each role for this machine. */
async function someServiceCertificates(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'contract-certificates-'))
  const hostNames = ['localhost', '127.0.0.1']
  await keepServiceCertificates({ files: certificateFolder(folder), names: namesOf('orch'), hostNames, clock: systemClock })
  return folder
}

/** `certificates` is a folder, or empty where nothing is encrypted. */
type Question = { readonly kind: 'open'; readonly certificates: string } | { readonly kind: 'close'; readonly id: string }
interface Opened {
  readonly id: string
  readonly addresses: Readonly<Record<string, string>>
}
interface Asked {
  readonly number: number
  readonly question: Question
}
interface Answer extends Opened {
  /** Of the question: one may have been given up meanwhile. */
  readonly number: number
  readonly failure?: string
}

let questions = 0

async function ask(child: ChildProcess, question: Question): Promise<Opened> {
  questions += 1
  const asked: Asked = { number: questions, question }
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const take = (answer: Answer) => {
    if (answer.number === asked.number) resolve(answer)
  }
  const fail = (code: number | null) => reject(new Error(`the child process has ended with ${code}`))
  child.on('message', take)
  child.on('exit', fail)
  try {
    child.send(asked)
    const answer = await promise
    if (answer.failure !== undefined) throw new Error(`the child process has failed: ${answer.failure}`)
    return answer
  } finally {
    child.off('message', take)
    child.off('exit', fail)
  }
}

/** The child's side: opens services whenever the parent asks, serves them, and ends with the parent. */
export function serveToParent<C extends Contracts>({ contracts, open }: ContractLinkOptions<C>): void {
  const closers = new Map<string, () => Promise<void>>()
  let lastId = 0
  const answer = async (question: Question): Promise<Opened> => {
    if (question.kind === 'close') {
      await closers.get(question.id)?.()
      closers.delete(question.id)
      return { id: question.id, addresses: {} }
    }
    const { openRpcServer, serveContract } = await import('@orch/platform/rpc')
    const { certificates } = question
    const opened = await open()
    const servers = Object.entries(contracts).map(async ([name, contract]) => {
      const [offeredBy] = contract.offeredBy
      const tls = certificates === '' || offeredBy === undefined ? undefined : serviceTlsFiles(certificates, offeredBy)
      // As above: the service of the same name.
      const offers = [serveContract(contract, opened.services[name] as Service<Contract<Methods>>)]
      return { name, server: await openRpcServer({ address: '127.0.0.1:0', offers, tls, log: silentLog }) }
    })
    const listening = await Promise.all(servers)
    lastId += 1
    const id = String(lastId)
    closers.set(id, async () => {
      for (const { server } of listening) server.close()
      await opened.close()
    })
    return { id, addresses: Object.fromEntries(listening.map(({ name, server }) => [name, server.address])) }
  }
  process.on('message', ({ number, question }: Asked) => {
    answer(question).then(
      (given) => process.send?.({ ...given, number } satisfies Answer),
      (error: unknown) => process.send?.({ number, id: '', addresses: {}, failure: String(error) } satisfies Answer),
    )
  })
  process.on('disconnect', () => process.exit(0))
}
