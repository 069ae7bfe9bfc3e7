import type { Chance } from '@orch/platform'

/** The values that a gateway draws. Each purpose has a separate stream, so that another request does not change the uids of a seed. */
export type Draws = ReturnType<typeof createDraws>

/** The draws of a gateway. */
export function createDraws(chance: Chance) {
  const below = (purpose: string) => {
    const { fraction } = chance.stream(purpose)
    return (bound: number) => Math.floor(fraction() * bound)
  }
  return {
    uid: chance.stream('uid').uuid,
    /** The id of one commit. */
    writeId: chance.stream('write id').uuid,
    /** The id of a token of a service account. */
    tokenId: chance.stream('token id').uuid,
    /** The ID of a request without an audit ID. */
    auditId: chance.stream('audit id').uuid,
    /** Draws the suffix of a generated name: an integer from 0 up to the bound, exclusive. */
    name: below('name'),
    /** Draws an address or a port, in the same way. */
    address: below('address'),
    /** Draws the endpoint of a Service, in the same way. */
    endpoint: below('endpoint'),
    /** Draws the additional lifetime of a watch, in the same way. */
    watchLife: below('watch life'),
    /** Draws a number from 0 up to 1, exclusive, which spreads pauses between attempts. */
    pause: chance.stream('pause').fraction,
  }
}
