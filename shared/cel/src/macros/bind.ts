import { at } from '../at.ts'
import type { Macro } from '../library.ts'
import { bindVariable } from './parts.ts'

/** `cel.bind(name, value, expression)`: evaluates the expression with the value bound to the name. */
export const bindMacro: Macro = {
  name: 'bind',
  member: true,
  arguments: 3,
  expand(builder, target, args) {
    if (target?.kind !== 'ident' || target.name !== 'cel') return undefined
    const [name] = args
    if (name?.kind !== 'ident') return builder.fail('cel.bind() variable names must be simple identifiers', name)
    return bindVariable(builder, name.name, at(args, 1), at(args, 2))
  },
}
