// By way of a file that looks at the version of Node before it loads the program, which older ones cannot.
import orch from './index.cjs'

export const { loadSnapshot, start, virtualClock } = orch
