package trace

// index finds an object by its hash, by open addressing. It has only the objects' numbers,
// and takes 5 to 11 bytes an object: the hashes are in the objects.
type index struct {
	slots []uint32 // number + 1; 0 = free. A power of two, at most 3/4 full
}

const minSlots = 1 << 10

// find returns the number of the object with this hash and whether there is one. If not,
// it returns the slot for insert.
func (x *index) find(objects []Object, hi, lo uint64) (slot int, number uint32, ok bool) {
	mask := uint64(len(x.slots) - 1)
	for i := lo & mask; ; i = (i + 1) & mask {
		n := x.slots[i]
		if n == 0 {
			return int(i), 0, false
		}
		if o := &objects[n-1]; o.Lo == lo && o.Hi == hi {
			return int(i), n - 1, true
		}
	}
}

// insert inserts the last of objects at the slot that find returned.
func (x *index) insert(slot int, objects []Object) {
	x.slots[slot] = uint32(len(objects))
	if len(objects) >= len(x.slots)/4*3 {
		x.grow(objects)
	}
}

func (x *index) grow(objects []Object) {
	x.slots = make([]uint32, max(minSlots, 2*len(x.slots)))
	for i := range objects {
		slot, _, _ := x.find(objects[:i], objects[i].Hi, objects[i].Lo)
		x.slots[slot] = uint32(i) + 1
	}
}
