import type { Log } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { limits } from '../limits.ts'
import { toLayout } from './layout.ts'
import { type LeadershipOptions, openLeadership } from './leadership.ts'

const turns = async () => {
  for (let round = 0; round < 4; round += 1) await new Promise<void>((resolve) => setImmediate(resolve))
}

/** The part of etcd that an election uses: keys in creation order, each with a lease. */
class FakeElection {
  readonly keys: { readonly key: string; readonly value: string; readonly id: string }[] = []
  readonly leases: FakeLease[] = []
  readonly asked: object[] = []
  /** Calls wait for this promise. */
  gate: Promise<void> = Promise.resolve()
  error: Error | undefined
  putError: Error | undefined
  revokeError: Error | undefined

  readonly client = {
    lease: (seconds: number) => {
      const lease = new FakeLease(this, seconds, String(this.leases.length + 1))
      this.leases.push(lease)
      return lease
    },
    kv: {
      put: async ({ key, value, lease }: { key: Buffer; value: Buffer; lease: string }) => {
        if (this.putError !== undefined) throw this.putError
        this.keys.push({ key: key.toString(), value: value.toString(), id: lease })
      },
      range: async (request: object) => {
        this.asked.push(request)
        await this.gate
        if (this.error !== undefined) throw this.error
        return { kvs: this.keys.map(({ key }) => ({ key: Buffer.from(key) })) }
      },
    },
  } as unknown as LeadershipOptions['client']

  /** Imitates the expiry or revocation of a lease. */
  remove(id: string): void {
    const index = this.keys.findIndex((one) => one.id === id)
    if (index >= 0) this.keys.splice(index, 1)
  }
}

class FakeLease {
  readonly #election: FakeElection
  readonly #lost: (() => void)[] = []
  readonly seconds: number
  readonly id: string
  isReleased = false
  revokedWith: { readonly deadline: number } | undefined

  constructor(election: FakeElection, seconds: number, id: string) {
    this.#election = election
    this.seconds = seconds
    this.id = id
  }

  on(event: string, listener: () => void): void {
    if (event === 'lost') this.#lost.push(listener)
  }

  async grant(): Promise<string> {
    await this.#election.gate
    return this.id
  }

  release(): void {
    this.isReleased = true
  }

  async revoke(options: { readonly deadline: number }): Promise<void> {
    this.revokedWith = options
    if (this.#election.revokeError !== undefined) throw this.#election.revokeError
    this.#election.remove(this.id)
  }

  lose(): void {
    this.#election.remove(this.id)
    for (const listener of this.#lost) listener()
  }
}

function candidate(election: FakeElection, name = 'one') {
  const clock = createFakeClock()
  const said: string[] = []
  const log = { debug: (_fields: object, text: string) => said.push(text) } as unknown as Log
  const leadership = openLeadership({ client: election.client, layout: toLayout('p'), clock, log, candidate: name })
  onTestFinished(() => leadership.close())
  const told: boolean[] = []
  const off = leadership.onChange((isLeader) => told.push(isLeader))
  return { clock, leadership, told, off, said }
}

/** A call whose answer the test controls. */
function openGate(election: FakeElection): () => void {
  let open = () => {}
  election.gate = new Promise((resolve) => {
    open = () => resolve()
  })
  return open
}

describe('an election', () => {
  test('is led by the oldest key, and after its removal by the next oldest', async () => {
    const election = new FakeElection()
    const first = candidate(election, 'first')
    const second = candidate(election, 'second')
    first.leadership.begin()
    await turns()
    second.leadership.begin()
    await turns()
    expect([first.leadership.isLeader, second.leadership.isLeader]).toEqual([true, false])
    expect(election.keys).toEqual([
      { key: '/p/election/1', value: 'first', id: '1' },
      { key: '/p/election/2', value: 'second', id: '2' },
    ])
    expect(election.leases.map(({ seconds }) => seconds)).toEqual([limits.leadershipSeconds, limits.leadershipSeconds])
    await first.leadership.close()
    second.leadership.look()
    await turns()
    expect([first.leadership.isLeader, second.leadership.isLeader]).toEqual([false, true])
    expect({ first: first.told, second: second.told }).toEqual({ first: [true, false], second: [true] })
  })

  test('reads all candidates, the oldest first', async () => {
    const election = new FakeElection()
    candidate(election).leadership.begin()
    await turns()
    expect(election.asked).toEqual([
      { key: Buffer.from('/p/election/'), range_end: Buffer.from('/p/election0'), sort_target: 'Create', sort_order: 'Ascend' },
    ])
  })

  test('is checked at intervals, and a change is reported once', async () => {
    const election = new FakeElection()
    const { clock, leadership, told } = candidate(election)
    election.keys.push({ key: '/p/election/0', value: 'other', id: '0' })
    leadership.begin()
    await turns()
    election.remove('0')
    clock.advance(limits.leadershipLookMs - 1)
    await turns()
    expect(told).toEqual([])
    clock.advance(1)
    await turns()
    clock.advance(limits.leadershipLookMs)
    await turns()
    expect(told).toEqual([true])
    expect(election.asked).toHaveLength(3)
    expect(election.leases).toHaveLength(1)
  })

  test('makes one more check for all requests that arrive during a check', async () => {
    const election = new FakeElection()
    const { leadership } = candidate(election)
    leadership.begin()
    await turns()
    const open = openGate(election)
    for (let count = 0; count < 3; count += 1) leadership.look()
    await turns()
    expect(election.asked).toHaveLength(2)
    open()
    await turns()
    expect(election.asked).toHaveLength(3)
  })

  test('does not call a removed listener', async () => {
    const election = new FakeElection()
    const { leadership, told, off } = candidate(election)
    off()
    leadership.begin()
    await turns()
    expect({ isLeader: leadership.isLeader, told }).toEqual({ isLeader: true, told: [] })
  })
})

describe('a replica in an election', () => {
  test('that has lost its lease no longer leads, and becomes a candidate again', async () => {
    const election = new FakeElection()
    const { leadership, told } = candidate(election)
    leadership.begin()
    await turns()
    election.leases[0]?.lose()
    expect([leadership.isLeader, told, election.leases[0]?.isReleased]).toEqual([false, [true, false], true])
    leadership.look()
    await turns()
    expect([leadership.isLeader, told]).toEqual([true, [true, false, true]])
    expect(election.keys.map(({ key }) => key)).toEqual(['/p/election/2'])
  })

  test('whose key was removed no longer leads, and becomes a candidate again by itself', async () => {
    const election = new FakeElection()
    const { leadership, told } = candidate(election)
    leadership.begin()
    await turns()
    election.remove('1')
    leadership.look()
    await turns()
    expect([leadership.isLeader, told]).toEqual([true, [true, false, true]])
    expect(election.leases.map(({ isReleased }) => isReleased)).toEqual([true, false])
  })

  test('whose key was removed while another replica leads becomes a candidate again, after the leader', async () => {
    const election = new FakeElection()
    const { leadership, told } = candidate(election)
    leadership.begin()
    await turns()
    election.keys.push({ key: '/p/election/9', value: 'other', id: '9' })
    election.remove('1')
    leadership.look()
    await turns()
    expect([leadership.isLeader, told, election.keys.map(({ key }) => key)]).toEqual([
      false,
      [true, false],
      ['/p/election/9', '/p/election/2'],
    ])
  })

  test('ignores the end of an earlier lease', async () => {
    const election = new FakeElection()
    const { leadership, told } = candidate(election)
    leadership.begin()
    await turns()
    election.leases[0]?.lose()
    leadership.look()
    await turns()
    election.leases[0]?.lose()
    expect([leadership.isLeader, told]).toEqual([true, [true, false, true]])
  })

  test('continues to lead without an answer of etcd while it holds its lease', async () => {
    const election = new FakeElection()
    const { leadership, told, said } = candidate(election)
    leadership.begin()
    await turns()
    election.error = new Error('14 UNAVAILABLE: etcdserver: no leader')
    leadership.look()
    await turns()
    expect([leadership.isLeader, told, said]).toEqual([true, [true], ['the election could not be read']])
  })

  test('whose key could not be written revokes its lease, and tries again at the next check', async () => {
    const election = new FakeElection()
    const { leadership, told, clock } = candidate(election)
    election.putError = new Error('14 UNAVAILABLE: etcdserver: no leader')
    leadership.begin()
    await turns()
    expect([election.leases.length, election.leases[0]?.isReleased, told]).toEqual([1, true, []])
    election.putError = undefined
    clock.advance(limits.leadershipLookMs)
    await turns()
    expect([leadership.isLeader, election.leases[1]?.isReleased]).toEqual([true, false])
  })
})

describe('a replica that leaves an election', () => {
  test('revokes its lease in time, no longer leads, and makes no more checks', async () => {
    const election = new FakeElection()
    const { leadership, told, clock, said } = candidate(election)
    leadership.begin()
    await turns()
    const beforeMs = Date.now()
    await leadership.close()
    const [lease] = election.leases
    expect([told, leadership.isLeader, lease?.isReleased, election.keys, said]).toEqual([[true, false], false, true, [], []])
    expect(lease?.revokedWith?.deadline).toBeGreaterThan(beforeMs)
    leadership.look()
    await turns()
    expect([election.asked.length, clock.pendingTimers]).toEqual([1, 0])
  })

  test('has left even if etcd answers the revocation with an error', async () => {
    const election = new FakeElection()
    const { leadership, told, said } = candidate(election)
    leadership.begin()
    await turns()
    election.revokeError = new Error('14 UNAVAILABLE: etcdserver: no leader')
    await leadership.close()
    expect([told, said]).toEqual([[true, false], ['the lease could not be released']])
  })

  test('has nothing to revoke before it began', async () => {
    const election = new FakeElection()
    await candidate(election).leadership.close()
    expect(election.leases).toEqual([])
  })

  test('neither leads by a later answer nor becomes a candidate again', async () => {
    const election = new FakeElection()
    const { leadership, told } = candidate(election)
    election.keys.push({ key: '/p/election/0', value: 'other', id: '0' })
    leadership.begin()
    await turns()
    const open = openGate(election)
    leadership.look()
    await turns()
    election.remove('0')
    await leadership.close()
    open()
    await turns()
    expect([told, leadership.isLeader, election.leases.length, election.asked.length]).toEqual([[], false, 1, 2])
  })

  test('while its lease is being granted revokes that lease too, and does not lead', async () => {
    const election = new FakeElection()
    const { leadership, told } = candidate(election)
    const open = openGate(election)
    leadership.begin()
    await turns()
    await leadership.close()
    open()
    await turns()
    expect([told, leadership.isLeader, election.leases.map(({ isReleased }) => isReleased)]).toEqual([[], false, [true]])
  })
})
