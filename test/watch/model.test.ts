import { seed } from '@orch/testkit/chance'
import { testModel } from './model.ts'

testModel(seed)
