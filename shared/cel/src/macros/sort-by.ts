import { at } from '../at.ts'
import type { Macro } from '../library.ts'
import { listOfEach } from './loops.ts'
import { bindVariable, loopVariable } from './parts.ts'

/** The method that sorts a list by a list of keys. Its name cannot be written in an expression. */
export const sortByKeys = '@sortByAssociatedKeys'

const input = '@__sortBy_input__'

/** `list.sortBy(element, key)`: the list in the order of its keys. */
export const sortByMacro: Macro = {
  name: 'sortBy',
  member: true,
  arguments: 2,
  expand(builder, target, args) {
    if (target === undefined) return undefined
    if (!['list', 'select', 'ident', 'comprehension', 'call'].includes(target.kind)) {
      return builder.fail('sortBy can only be applied to a list, identifier, comprehension, call or select expression', target)
    }
    const variable = loopVariable(builder, at(args, 0))
    if (variable === undefined) return undefined
    const keys = builder.comprehension({ variable, range: builder.ident(input), ...listOfEach(builder, undefined, at(args, 1)) })
    return bindVariable(builder, input, target, builder.memberCall(sortByKeys, builder.ident(input), keys))
  },
}
