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
  /** An integer from 0 to below the bound, for the end of a generated name. */
  readonly name: (bound: number) => number
  /** An integer from 0 to below the bound, for an address or a port. */
  readonly address: (bound: number) => number
  /** An integer from 0 to below the bound, for the endpoint of a Service. */
  readonly endpoint: (bound: number) => number
  /** An integer from 0 to below the bound, for the end of a watch. */
  readonly watchLife: (bound: number) => number
  /** A number from 0 to below 1, for pauses between attempts and the like. */
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
