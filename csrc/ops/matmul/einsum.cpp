// Einstein summation: diagonals and sums of single operands are views and reductions; then come products of pairs.
#include "core/op_call.hpp"
#include "ops/matmul/matmul.hpp"

#include <stator/creation.hpp>
#include <stator/elementwise.hpp>
#include <stator/matmul.hpp>
#include <stator/movement.hpp>
#include <stator/reduce.hpp>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <string>

namespace stator {
namespace {

using Labels = std::vector<int>;  // a letter, or ellipsis + the index of an axis counted from the end
constexpr int ellipsis = 1 << 8;
constexpr size_t most_planned = 8;  // planning compares 3^n pairs of sets

bool has(const Labels& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

struct Term {
  Array x;
  Labels labels;
};

class Einsum {
 public:
  Einsum(std::string_view subscripts, std::span<const Array> operands, std::optional<DType> dtype, const Stream& on)
      : op_(op_info(Op::einsum).call), text_(subscripts), on_(on) {
    parse(operands);
    std::vector<DType> dtypes;
    for (const Array& x : operands) dtypes.push_back(x.dtype());
    common_ = promote(dtypes);
    result_ = dtype.value_or(common_);
    matmul_plan::require_result_dtype(op_, common_, result_);
    // Integers are exact in the dtype of the result, because they wrap; others have at least float32 until the end.
    const bool exact = in(result_, dtypes::integers | dtypes::boolean);
    inner_ = exact ? result_ : promote(promote(common_, result_), DType::float32);
    for (Term& term : terms_) take_diagonals(term);
    for (Term& term : terms_) sum_alone(term);
  }

  Array run() {
    const Term found = terms_.size() <= most_planned ? planned() : in_order();
    return ordered(astype(found.x, result_, false, on_), found.labels, output_);
  }

 private:
  [[noreturn]] void refuse(const std::string& cause, const std::string& remedy) const {
    throw ShapeError(op_, "subscripts '" + text_ + "': " + cause, remedy);
  }

  // The labels of one operand, or of the output. dims: how many axes an ellipsis stands for.
  Labels read(std::string_view part, int dims) const {
    Labels labels;
    for (size_t i = 0; i < part.size(); ++i) {
      const char c = part[i];
      if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
        labels.push_back(c);
      } else if (part.substr(i, 3) == "...") {
        for (int d = dims; d-- > 0;) labels.push_back(ellipsis + d);
        i += 2;
      } else {
        refuse(std::string("the character '") + c + "'", "use letters, commas, '->' and '...'");
      }
    }
    return labels;
  }

  void parse(std::span<const Array> operands) {
    std::string text;
    for (const char c : text_)
      if (c != ' ') text += c;
    const size_t arrow = text.find("->");
    const bool explicit_output = arrow != std::string::npos;
    const std::string inputs = text.substr(0, arrow);
    size_t begin = 0;
    std::map<int, int> uses;
    int most_dims = 0;
    for (size_t k = 0; k < operands.size(); ++k) {
      const size_t end = std::min(inputs.find(',', begin), inputs.size());
      if (begin > inputs.size()) refuse("fewer terms than operands", "write one term an operand");
      const std::string_view part = std::string_view(inputs).substr(begin, end - begin);
      begin = end + 1;
      const bool dots = part.find("...") != std::string_view::npos;
      if (dots && part.find("...", part.find("...") + 3) != std::string_view::npos)
        refuse("the term '" + std::string(part) + "'", "a term has at most one ellipsis");
      const int letters = int(part.size()) - (dots ? 3 : 0), dims = operands[k].ndim() - letters;
      if (dims < 0 || (dims > 0 && !dots))
        refuse("the term '" + std::string(part) + "' for an operand of shape " + str(operands[k].shape()),
               "name every axis, or use '...'");
      Term term{operands[k], read(part, dims)};
      most_dims = std::max(most_dims, dots ? dims : 0);
      for (int d = 0; d < term.x.ndim(); ++d) {
        const int label = term.labels[size_t(d)];
        const int64_t extent = term.x.shape()[d];
        for (int before = 0; before < d; ++before)
          if (term.labels[size_t(before)] == label && term.x.shape()[before] != extent)
            refuse("a diagonal of axes of " + std::to_string(term.x.shape()[before]) + " and " +
                       std::to_string(extent) + " elements",
                   "axes of one letter in a term must have equal lengths");
        ++uses[label];
        const auto [known, fresh] = extents_.emplace(label, extent);
        if (fresh || known->second == extent || extent == 1) continue;
        if (known->second != 1)
          refuse(
              "an axis of " + std::to_string(extent) + " elements where another has " + std::to_string(known->second),
              "axes of one letter must have equal lengths, or 1");
        known->second = extent;
      }
      terms_.push_back(std::move(term));
    }
    if (begin <= inputs.size()) refuse("more terms than operands", "write one term an operand");
    if (explicit_output) {
      output_ = read(std::string_view(text).substr(arrow + 2), most_dims);
      for (const int label : output_) {
        if (extents_.count(label) == 0) refuse("the output names what no operand has", "use letters of the terms");
        if (std::count(output_.begin(), output_.end(), label) > 1)
          refuse("the output names an axis twice", "name each axis once");
      }
    } else {
      for (int d = most_dims; d-- > 0;) output_.push_back(ellipsis + d);
      for (const auto& [label, count] : uses)
        if (label < ellipsis && count == 1) output_.push_back(label);
    }
  }

  // Repeated labels become diagonals; axes of length 1 that other operands stretch are dropped.
  void take_diagonals(Term& term) {
    Labels labels;
    Dims shape, strides;
    for (int d = 0; d < term.x.ndim(); ++d) {
      const int label = term.labels[size_t(d)];
      const int64_t extent = term.x.shape()[d];
      if (extent == 1 && extents_[label] != 1) continue;
      const auto known = std::find(labels.begin(), labels.end(), label);
      if (known != labels.end()) {
        strides[int(known - labels.begin())] += term.x.strides()[d];
        continue;
      }
      labels.push_back(label);
      shape.push_back(extent);
      strides.push_back(term.x.strides()[d]);
    }
    term.x = Array(term.x.buffer(), term.x.dtype(), std::move(shape), std::move(strides), term.x.offset());
    term.labels = labels;
  }

  // Labels that neither the output nor another term has are summed before anything is multiplied.
  void sum_alone(Term& term) {
    term.x = astype(term.x, common_, false, on_);
    ReduceOptions sums;
    sums.axes.emplace();
    Labels kept;
    for (size_t d = 0; d < term.labels.size(); ++d) {
      const int label = term.labels[d];
      bool elsewhere = has(output_, label);
      for (const Term& other : terms_) elsewhere = elsewhere || (&other != &term && has(other.labels, label));
      if (elsewhere)
        kept.push_back(label);
      else
        sums.axes->push_back(int64_t(d));
    }
    if (sums.axes->empty()) return;
    sums.dtype = terms_.size() == 1 ? result_ : inner_;
    term.x = sum(term.x, sums, on_);
    term.labels = kept;
  }

  Array ordered(const Array& x, const Labels& labels, const Labels& wanted) const {
    std::vector<int64_t> axes;
    for (const int label : wanted) axes.push_back(std::find(labels.begin(), labels.end(), label) - labels.begin());
    return permute_dims(x, axes);
  }
  Array shaped(const Array& x, const Dims& dims) const {
    return reshape(x, std::span<const int64_t>(dims.data(), size_t(dims.size())), {}, on_);
  }
  int64_t extent(int label) const { return extents_.at(label); }

  static Labels joined(std::initializer_list<const Labels*> parts) {
    Labels all;
    for (const Labels* part : parts) all.insert(all.end(), part->begin(), part->end());
    return all;
  }

  // The product of a and b, summed over the labels of both that `keep` does not have. The last product rounds to the
  // dtype of the result.
  Term pair(const Term& a, const Term& b, const Labels& keep, bool last) const {
    Labels batch, left, right, summed;
    for (const int label : a.labels)
      (!has(b.labels, label) ? left : has(keep, label) ? batch : summed).push_back(label);
    for (const int label : b.labels)
      if (!has(a.labels, label)) right.push_back(label);
    Term out{{}, joined({&batch, &left, &right})};
    const auto product_of = [&](const Labels& labels) {
      int64_t n = 1;
      for (const int label : labels) n *= extent(label);
      return n;
    };
    const DType dtype = last ? result_ : inner_;
    Dims shape;
    for (const int label : out.labels) shape.push_back(extent(label));
    if (summed.empty()) {  // nothing to sum: one multiplication of broadcast views
      Dims of_a = shape, of_b = shape;
      for (size_t k = 0; k < right.size(); ++k) of_a[int(batch.size() + left.size() + k)] = 1;
      for (size_t k = 0; k < left.size(); ++k) of_b[int(batch.size() + k)] = 1;
      const auto factor = [&](const Term& term, const Labels& side, const Dims& dims) {
        return shaped(ordered(term.x, term.labels, joined({&batch, &side})), dims);
      };
      out.x = multiply_as(factor(a, left, of_a), factor(b, right, of_b), dtype, on_);
      return out;
    }
    Dims of_a, of_b;
    for (const int label : batch) {
      of_a.push_back(extent(label));
      of_b.push_back(extent(label));
    }
    of_a.push_back(product_of(left));
    of_a.push_back(product_of(summed));
    of_b.push_back(product_of(summed));
    of_b.push_back(product_of(right));
    const Array x = shaped(ordered(a.x, a.labels, joined({&batch, &left, &summed})), of_a);
    const Array y = shaped(ordered(b.x, b.labels, joined({&batch, &summed, &right})), of_b);
    out.x = shaped(matmul(x, y, {.dtype = dtype}, on_), shape);
    return out;
  }

  // The labels that the product of a set of terms must keep: those that the output or a term outside the set has.
  Labels kept_by(unsigned set) const {
    Labels keep = output_;
    for (size_t k = 0; k < terms_.size(); ++k)
      if (!(set >> k & 1)) keep.insert(keep.end(), terms_[k].labels.begin(), terms_[k].labels.end());
    return keep;
  }

  Labels labels_of(unsigned set) const {
    if (std::has_single_bit(set)) return terms_[size_t(std::countr_zero(set))].labels;
    const Labels keep = kept_by(set);
    Labels labels;
    for (size_t k = 0; k < terms_.size(); ++k) {
      if (!(set >> k & 1)) continue;
      for (const int label : terms_[k].labels)
        if (has(keep, label) && !has(labels, label)) labels.push_back(label);
    }
    return labels;
  }

  // Finds the split of each set of terms in two that needs the fewest multiplications, then evaluates the products from
  // the leaves up.
  Term planned() {
    const unsigned all = (1u << terms_.size()) - 1;
    std::vector<double> cost(all + 1, 0);
    std::vector<unsigned> split(all + 1, 0);
    std::vector<Labels> labels(all + 1);
    for (unsigned set = 1; set <= all; ++set) labels[set] = labels_of(set);
    for (unsigned set = 1; set <= all; ++set) {
      if (std::has_single_bit(set)) continue;
      cost[set] = std::numeric_limits<double>::infinity();
      for (unsigned part = (set - 1) & set; part > 0; part = (part - 1) & set) {
        if (part < (set ^ part)) continue;  // each split only once
        double work = 1;
        for (const int label : labels[part]) work *= double(extent(label));
        for (const int label : labels[set ^ part])
          if (!has(labels[part], label)) work *= double(extent(label));
        const double total = work + cost[part] + cost[set ^ part];
        if (total < cost[set]) cost[set] = total, split[set] = part;
      }
    }
    return evaluated(all, split);
  }
  Term evaluated(unsigned set, const std::vector<unsigned>& split) const {
    if (std::has_single_bit(set)) return terms_[size_t(std::countr_zero(set))];
    const unsigned part = split[set];
    // The larger set number holds the later terms: keep the order of the operands.
    const bool last = set == (1u << terms_.size()) - 1;
    return pair(evaluated(set ^ part, split), evaluated(part, split), kept_by(set), last);
  }

  Term in_order() const {
    Term so_far = terms_[0];
    for (size_t k = 1; k < terms_.size(); ++k) {
      Labels keep = output_;
      for (size_t j = k + 1; j < terms_.size(); ++j)
        keep.insert(keep.end(), terms_[j].labels.begin(), terms_[j].labels.end());
      so_far = pair(so_far, terms_[k], keep, k + 1 == terms_.size());
    }
    return so_far;
  }

  std::string op_, text_;
  Stream on_;
  // The dtype of the operands, of the result, and of everything before the last product.
  DType common_{}, result_{}, inner_{};
  std::vector<Term> terms_;
  Labels output_;
  std::map<int, int64_t> extents_;
};

}  // namespace

Array einsum(std::string_view subscripts, std::span<const Array> operands, std::optional<DType> dtype,
             const Stream& stream) {
  if (operands.empty())
    throw ValueError(std::string(op_info(Op::einsum).call), "got no operands", "pass one array a term");
  const OpCall call(Op::einsum, {&operands[0]}, stream);
  return Einsum(subscripts, operands, dtype, call.on()).run();
}

}  // namespace stator
