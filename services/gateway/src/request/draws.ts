import type { Chance } from '@orch/platform'

/** The values that a gateway draws. Each purpose has a separate stream, so that another request does not change the uids of a seed. */
export interface Draws {
  /** The uid of a new object. */
  readonly uid: () => string
  /** The id of one commit. */
  readonly writeId: () => string
  /** The id of a token of a service account. */
  readonly tokenId: () => string
  /** The ID of a request without an audit ID. */
  readonly auditId: () => string
  /** Draws the suffix of a generated name: an integer from 0 up to the bound, exclusive. */
  readonly name: (bound: number) => number
  /** Draws an address or a port, in the same way. */
  readonly address: (bound: number) => number
  /** Draws the endpoint of a Service, in the same way. */
  readonly endpoint: (bound: number) => number
  /** Draws the additional lifetime of a watch, in the same way. */
  readonly watchLife: (bound: number) => number
  /** Draws a number from 0 up to 1, exclusive, which spreads pauses between attempts. */
  readonly pause: () => number
}

/** The draws of a gateway. */
export function createDraws(chance: Chance): Draws {
  const below = (purpose: string) => {
    const { fraction } = chance.stream(purpose)
    return (bound: number) => Math.floor(fraction() * bound)
  }
  return {
    uid: chance.stream('uid').uuid,
    writeId: chance.stream('write id').uuid,
    tokenId: chance.stream('token id').uuid,
    auditId: chance.stream('audit id').uuid,
    name: below('name'),
    address: below('address'),
    endpoint: below('endpoint'),
    watchLife: below('watch life'),
    pause: chance.stream('pause').fraction,
  }
}
