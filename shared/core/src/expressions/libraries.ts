import { Environment } from '@orch/cel/environment'
import { kubernetesLibraries } from '@orch/cel/kubernetes'
import type { Library } from '@orch/cel/library'

/** The age of an expression: stored already, or the level of the server at which it is written. */
export type ExpressionAge = 'stored' | number

/** The first level at which new expressions may use the libraries of the release before alone. */
const compatibleSince = 28

/**
 * An environment with the libraries of Kubernetes and others. Stored expressions may use a library one release before new ones, so
 * that a server of the release before can still read the stored ones.
 */
export function createEnvironment(age: ExpressionAge, others: readonly Library[] = []): Environment {
  const options = { libraries: [...kubernetesLibraries, ...others], escapedFields: true }
  return new Environment(age === 'stored' ? options : { ...options, version: age < compatibleSince ? age : age - 1 })
}
