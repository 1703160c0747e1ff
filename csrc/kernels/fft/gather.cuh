// Reads lanes from arrays and writes them back. Point i of lane l is element start + i * stride + l * lane_index of its
// signal: its index. It lies at base[l] + index * step. Addresses are in numbers of type T.
#pragma once

#include "kernels/fft/passes.cuh"

namespace stator::STATOR_TARGET::fft {

template <class T>
struct LaneSide {
  T* base[LaneVector<T>::count];
  int64_t step;       // from one index to the next
  int64_t imaginary;  // from a real part to its imaginary part; unused for form real
  int64_t start, stride, lane_index;
  int64_t count;  // elements of the signal that are in memory
  int64_t n;      // points of the signal, for form half
  int lanes;      // lanes in use
  params::FftForm form;
  bool conjugate;
};

template <class T>
STATOR_FN Point<T> read_point(const LaneSide<T>& side, int lane, int64_t i) {
  using Form = params::FftForm;
  const int64_t index = side.start + i * side.stride + lane * side.lane_index;
  const T* base = side.base[lane];
  if (side.form == Form::half) {
    const bool mirrored = index > side.n / 2;
    const int64_t stored = mirrored ? side.n - index : index;
    if (stored >= side.count || stored < int64_t(mirrored)) return {T(0), T(0)};
    const T* p = base + stored * side.step;
    const T im = stored == 0 ? T(0) : p[1];
    return {p[0], mirrored != side.conjugate ? -im : im};
  }
  const T* p = base + index * side.step;
  if (side.form == Form::pairs)
    return {2 * index < side.count ? p[0] : T(0), 2 * index + 1 < side.count ? p[side.imaginary] : T(0)};
  if (index >= side.count) return {T(0), T(0)};
  if (side.form == Form::real) return {p[0], T(0)};
  return {p[0], side.conjugate ? -p[1] : p[1]};
}

template <class T>
STATOR_FN void write_point(const LaneSide<T>& side, int lane, int64_t i, T re, T im) {
  using Form = params::FftForm;
  const int64_t index = side.start + i * side.stride + lane * side.lane_index;
  T* p = side.base[lane] + index * side.step;
  if (side.form == Form::pairs) {
    if (2 * index < side.count) p[0] = re;
    if (2 * index + 1 < side.count) p[side.imaginary] = im;
    return;
  }
  if (index >= side.count) return;
  p[0] = re;
  if (side.form != Form::real) p[1] = im;
}

// Fast host: how vectors walk through the memory of a block of lanes.
enum class LaneWalk {
  scattered,
  lanes,       // lanes lie side by side, complex numbers
  real_lanes,  // lanes lie side by side, real numbers
  rows,        // points lie side by side, complex numbers
  real_rows
};
template <class T>
STATOR_FN LaneWalk walk_of(const LaneSide<T>& side) {
  constexpr int lanes = LaneVector<T>::count;
  if (side.form == params::FftForm::half && side.stride != 1) return LaneWalk::scattered;
  if (side.lanes == lanes) {
    const int64_t apart = side.base[1] - side.base[0] + side.lane_index * side.step;
    bool even = true;
    for (int l = 2; l < lanes; ++l) even &= side.base[l] - side.base[l - 1] + side.lane_index * side.step == apart;
    if (even && apart == 2 && side.imaginary == 1) return LaneWalk::lanes;
    if (even && apart == 1) return LaneWalk::real_lanes;
  }
  if (side.lane_index == 0 && side.stride == 1) {
    if (side.step == 2 && side.imaginary == 1) return LaneWalk::rows;
    if (side.step == 1 && side.form == params::FftForm::real) return LaneWalk::real_rows;
  }
  return LaneWalk::scattered;
}
// The number of leading points that are in memory whole, in every lane. For form half the caller asks for the first
// half.
template <class T>
STATOR_FN int64_t full_points(const LaneSide<T>& side, int64_t points) {
  const int64_t elements = side.form == params::FftForm::pairs ? side.count / 2 : side.count;
  const int64_t room = elements - 1 - side.start - side.lane_index * (side.lanes - 1);
  const int64_t full = room < 0 ? 0 : room / side.stride + 1;
  return full < points ? full : points;
}

// Reads points [0, points) of every lane into `to`. Unused lanes repeat the first.
template <class T, class G>
STATOR_CALL void gather(G group, const LaneSide<T>& side, int64_t points, T* to) {
  using V = typename LaneVector<T>::type;
  constexpr int lanes = LaneVector<T>::count, size = point_size<T>;
  int64_t done = 0;
  if constexpr (fast_host) {
    const LaneWalk walk = walk_of(side);
    const int64_t full = walk == LaneWalk::scattered ? 0 : full_points(side, points);
    const T sign = side.conjugate ? T(-1) : T(1);
    const T* p = side.base[0] + side.start * side.step;
    const int64_t step = side.stride * side.step;
    // Read as many points as possible with vectors.
    if (walk == LaneWalk::lanes) {
      for (; done < full; ++done) {
        Point<V> x;
        load_pairs(p + done * step, x.re, x.im);
        store_point(to + done * size, {x.re, x.im * sign});
      }
    } else if (walk == LaneWalk::real_lanes) {
      for (; done < full; ++done) {
        const T* at = p + done * step;
        store_point(to + done * size,
                    {load_lanes(at), side.form == params::FftForm::real ? V{} : load_lanes(at + side.imaginary)});
      }
    } else if (walk == LaneWalk::rows) {
      for (; done + lanes <= full; done += lanes) {
        V re[lanes], im[lanes];
        for (int l = 0; l < lanes; ++l) load_pairs(side.base[l] + 2 * (side.start + done), re[l], im[l]);
        transpose_lanes(re);
        transpose_lanes(im);
        for (int i = 0; i < lanes; ++i) store_point(to + (done + i) * size, {re[i], im[i] * sign});
      }
    } else if (walk == LaneWalk::real_rows) {
      for (; done + lanes <= full; done += lanes) {
        V re[lanes];
        for (int l = 0; l < lanes; ++l) re[l] = load_lanes(side.base[l] + side.start + done);
        transpose_lanes(re);
        for (int i = 0; i < lanes; ++i) store_point(to + (done + i) * size, {re[i], V{}});
      }
    }
    // Read the others number by number.
    for (; done < points; done += lanes) {  // chunk by chunk along the signals
      const int64_t end = done + lanes < points ? done + lanes : points;
      for (int l = 0; l < lanes; ++l) {
        for (int64_t i = done; i < end; ++i) {
          const Point<T> x = read_point(side, l < side.lanes ? l : 0, i);
          to[i * size + l] = x.re;
          to[i * size + lanes + l] = x.im;
        }
      }
    }
  } else {
    for_each_lane<T>(group, points, [&](int64_t i, int lane) {
      const Point<T> x = read_point(side, lane < side.lanes ? lane : 0, i);
      to[i * size + lane] = x.re;
      to[i * size + lanes + lane] = x.im;
    });
  }
  group.sync();
}

// Writes them back, times `scale`.
template <class T, class G>
STATOR_CALL void scatter(G group, const LaneSide<T>& side, int64_t points, const T* from, T scale) {
  using V = typename LaneVector<T>::type;
  constexpr int lanes = LaneVector<T>::count, size = point_size<T>;
  const T im_scale = side.conjugate ? -scale : scale;
  int64_t done = 0;
  if constexpr (fast_host) {
    const LaneWalk walk = walk_of(side);
    const int64_t full = walk == LaneWalk::scattered ? 0 : full_points(side, points);
    T* p = side.base[0] + side.start * side.step;
    const int64_t step = side.stride * side.step;
    // Write as many points as possible with vectors.
    if (walk == LaneWalk::lanes) {
      for (; done < full; ++done) {
        const Point<V> x = load_point(from + done * size);
        store_pairs(p + done * step, x.re * scale, x.im * im_scale);
      }
    } else if (walk == LaneWalk::real_lanes) {
      for (; done < full; ++done) {
        const Point<V> x = load_point(from + done * size);
        store_lanes(p + done * step, x.re * scale);
        if (side.form != params::FftForm::real) store_lanes(p + done * step + side.imaginary, x.im * im_scale);
      }
    } else if (walk == LaneWalk::rows) {
      for (; done + lanes <= full; done += lanes) {
        V re[lanes], im[lanes];
        for (int i = 0; i < lanes; ++i) {
          const Point<V> x = load_point(from + (done + i) * size);
          re[i] = x.re * scale;
          im[i] = x.im * im_scale;
        }
        transpose_lanes(re);
        transpose_lanes(im);
        for (int l = 0; l < side.lanes; ++l) store_pairs(side.base[l] + 2 * (side.start + done), re[l], im[l]);
      }
    } else if (walk == LaneWalk::real_rows) {
      for (; done + lanes <= full; done += lanes) {
        V re[lanes];
        for (int i = 0; i < lanes; ++i) re[i] = load_lanes(from + (done + i) * size) * scale;
        transpose_lanes(re);
        for (int l = 0; l < side.lanes; ++l) store_lanes(side.base[l] + side.start + done, re[l]);
      }
    }
    // Write the others number by number.
    for (; done < points; done += lanes) {
      const int64_t end = done + lanes < points ? done + lanes : points;
      for (int l = 0; l < side.lanes; ++l)
        for (int64_t i = done; i < end; ++i)
          write_point(side, l, i, from[i * size + l] * scale, from[i * size + lanes + l] * im_scale);
    }
  } else {
    for_each_lane<T>(group, points, [&](int64_t i, int lane) {
      if (lane < side.lanes)
        write_point(side, lane, i, from[i * size + lane] * scale, from[i * size + lanes + lane] * im_scale);
    });
  }
  group.sync();
}

}  // namespace stator::STATOR_TARGET::fft
