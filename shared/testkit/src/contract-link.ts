import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Contract, Methods, Service } from '@orch/core'
import { directLink, silentLog } from '@orch/platform'

/** Contracts by the names that a test uses for them. */
export type Contracts = Readonly<Record<string, Contract<Methods>>>

/** The services of these contracts. */
export type ServicesOf<C extends Contracts> = { readonly [N in keyof C]: Service<C[N]> }

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

/** Both ways: frozen function calls, and gRPC to a child process that runs `script`, which calls `serveToParent`. */
export function contractSuiteLinks<C extends Contracts>(
  options: ContractLinkOptions<C> & { readonly script: URL },
): readonly ContractLink<C>[] {
  return [directContractLink(options), childContractLink(options)]
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

function childContractLink<C extends Contracts>({ contracts, script }: { contracts: C; script: URL }): ContractLink<C> {
  let child: ChildProcess | undefined
  return {
    name: 'gRPC to a child process',
    async open() {
      const { dialContract } = await import('@orch/platform/rpc')
      child ??= fork(fileURLToPath(script), { execArgv: ['--conditions=source', '--disable-warning=ExperimentalWarning'] })
      const { address } = await ask(child, { kind: 'open' })
      const dialled = Object.entries(contracts).map(([name, contract]) => ({
        name,
        ...dialContract(contract, { addresses: [address], random: Math.random, log: silentLog }),
      }))
      const held = child
      return {
        services: Object.fromEntries(dialled.map(({ name, service }) => [name, service])) as ServicesOf<C>,
        async close() {
          for (const { close } of dialled) close()
          await ask(held, { kind: 'close', address })
        },
      }
    },
    async close() {
      if (child === undefined || child.exitCode !== null) return
      const exited = once(child, 'exit')
      child.disconnect()
      await exited
    },
  }
}

type Question = { readonly kind: 'open' } | { readonly kind: 'close'; readonly address: string }
type Answer = { readonly address: string; readonly failure?: string }

/** One question at a time. */
async function ask(child: ChildProcess, question: Question): Promise<Answer> {
  const ended = new AbortController()
  const exited = once(child, 'exit', { signal: ended.signal }).then(([code]) => {
    throw new Error(`the child process has ended with ${code}`)
  })
  exited.catch(() => {})
  child.send(question)
  const [answer] = (await Promise.race([once(child, 'message', { signal: ended.signal }), exited])) as [Answer]
  ended.abort()
  if (answer.failure !== undefined) throw new Error(`the child process has failed: ${answer.failure}`)
  return answer
}

/** The child's side: opens services whenever the parent asks, serves them, and ends with the parent. */
export function serveToParent<C extends Contracts>({ contracts, open }: ContractLinkOptions<C>): void {
  const closers = new Map<string, () => Promise<void>>()
  const answer = async (question: Question): Promise<Answer> => {
    if (question.kind === 'close') {
      await closers.get(question.address)?.()
      return question
    }
    const { openRpcServer, serveContract } = await import('@orch/platform/rpc')
    const opened = await open()
    // As above: the service of the same name.
    const offers = Object.entries(contracts).map(([name, contract]) =>
      serveContract(contract, opened.services[name] as Service<Contract<Methods>>),
    )
    const server = await openRpcServer({ address: '127.0.0.1:0', offers, log: silentLog })
    closers.set(server.address, async () => {
      server.close()
      await opened.close()
    })
    return { address: server.address }
  }
  process.on('message', (question: Question) => {
    answer(question).then(
      (given) => process.send?.(given),
      (error: unknown) => process.send?.({ address: '', failure: String(error) }),
    )
  })
  process.on('disconnect', () => process.exit(0))
}
