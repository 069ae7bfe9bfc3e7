import type { MutableBuiltIn } from '@orch/core/schema'
import type { RulesOf } from './kind-rules.ts'

/** An account refers to Secrets of its own namespace by name. */
export const serviceAccountStrategy: RulesOf<'core/v1.ServiceAccount'> = {
  prepareCreate: keepNames,
  prepareUpdate: keepNames,
}

function keepNames(account: MutableBuiltIn<'core/v1.ServiceAccount'>): void {
  if (account.secrets === undefined) return
  account.secrets = account.secrets.map(({ name }) => (name === undefined ? {} : { name }))
}
