import { Environment } from '@orch/cel/environment'
import { kubernetesLibraries } from '@orch/cel/kubernetes'
import type { Library } from '@orch/cel/library'

/** The age of an expression: `stored`, or for a new expression the level of the server. */
export type ExpressionAge = 'stored' | number

/** The first level that restricts new expressions to the libraries of the previous release. */
const compatibleSince = 28

/**
 * An environment with Kubernetes' libraries and others. Stored expressions may use a library one release earlier than new ones, so
 * that a server of the previous release can still read stored expressions.
 */
export function createEnvironment(age: ExpressionAge, others: readonly Library[] = []): Environment {
  const options = { libraries: [...kubernetesLibraries, ...others], escapedFields: true }
  return new Environment(age === 'stored' ? options : { ...options, version: age < compatibleSince ? age : age - 1 })
}
