import type { Contract, Methods, Service } from '@orch/core/contracts'

/** A contract together with its implementation. */
export interface Offer {
  readonly contract: Contract<Methods>
  readonly service: Service<Contract<Methods>>
}

/** Offers a service under its contract. */
export function serveContract<M extends Methods>(contract: Contract<M>, service: Service<Contract<M>>): Offer {
  return { contract, service: service as unknown as Service<Contract<Methods>> }
}
