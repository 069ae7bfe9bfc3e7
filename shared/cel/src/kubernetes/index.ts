import type { Library } from '../library.ts'
import { bindMacro } from '../macros/bind.ts'
import { standardLibrary } from '../standard/index.ts'
import { authorization, authorizationSelectors } from './authorizer.ts'
import { includes, lists, listTransforms, sets } from './lists.ts'
import { cidrs, ips } from './network.ts'
import { optionals } from './optionals.ts'
import { jsonPatch, regex, strings, stringsBefore, urls } from './text.ts'
import { twoVariableLoops } from './two-variables.ts'
import { formats, quantities, semvers } from './values.ts'

export { kubernetesTypes } from './types.ts'

/** All libraries of Kubernetes' expressions; an environment picks those of its version. */
export const kubernetesLibraries: readonly Library[] = [
  standardLibrary,
  urls,
  regex,
  lists,
  stringsBefore,
  authorization,
  optionals,
  quantities,
  strings,
  sets,
  ips,
  cidrs,
  formats,
  authorizationSelectors,
  twoVariableLoops,
  semvers,
  listTransforms,
  includes,
]

/** `cel.bind`, in expressions about devices. */
export const bindingLibrary: Library = { name: 'bindings', since: 31, functions: {}, macros: [bindMacro] }

/** The additional library of mutating policies. */
export const patchLibrary: Library = jsonPatch
